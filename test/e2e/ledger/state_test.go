package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestUnknownFields has files of a newer version with unknown fields that this version may keep. This version continues, and writes them back.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, form{repositories: 2})
	d.awaitSucceeded(1)
	d.editStateFile(d.homeRepository(), "ledger.json", func(file map[string]any) {
		file["format"], file["futureOfFile"] = 3, map[string]any{"x": []any{"a", "b"}}
		d.Set(&unstructured.Unstructured{Object: file}, "of the state", "state", "futureOfState")
	})
	for _, repository := range d.repositories {
		d.editStateFile(repository, "record.json", func(file map[string]any) { file["futureOfRecord"] = "of the record" })
	}
	d.awaitSucceeded(2)
	d.wantLedgerOf(d.ledgerAfterVerified(2), "2", 2, 2)
	f := d.stateFileOf(d.homeRepository(), "ledger.json")
	got := map[string]any{"format": f["format"], "file": f["futureOfFile"], "state": f["state"].(map[string]any)["futureOfState"]}
	want := map[string]any{"format": float64(3), "file": map[string]any{"x": []any{"a", "b"}}, "state": "of the state"}
	for _, repository := range d.repositories {
		got[repository], want[repository] = d.stateFileOf(repository, "record.json")["futureOfRecord"], "of the record"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields that this version does not know: -want, +got:\n%s", diff)
	}
}

// TestNewerState has files of a newer version that this version must not change. It does not write them, and reports them, until they are as before.
func TestNewerState(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		repository int
		file       string
		meanwhile  string
	}{
		"Ledger": {
			reason:     "A ledger that needs a newer version is left alone, and nothing is ordered.",
			repository: 0, file: "ledger.json", meanwhile: "1 1",
		},
		"RecordOfHome": {
			reason:     "A record of the home that needs a newer version is left alone, and nothing is ordered.",
			repository: 0, file: "record.json", meanwhile: "1 1",
		},
		"FollowerRecord": {
			reason:     "A record of a follower that needs a newer version is left alone, and the home goes ahead.",
			repository: 1, file: "record.json", meanwhile: "2 1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			d := newDeployment(t, form{repositories: 2})
			d.awaitSucceeded(1)
			repository := d.repositories[tc.repository]
			minReader := d.stateFileOf(repository, tc.file)["minReader"]
			d.editStateFile(repository, tc.file, func(file map[string]any) { file["format"], file["minReader"] = 99, 99 })
			previous := d.refsOfRepositories()
			d.Apply(d.describeShop(2))
			d.awaitReadyReason(repository, "StateNewer")
			d.Await(d.describeShop(2), "Stalled", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Stalled", corev1.ConditionTrue, "") })
			d.wantReplicas(tc.meanwhile)
			d.wantUntouched(previous, repository)

			d.editStateFile(repository, tc.file, func(file map[string]any) { file["minReader"] = minReader })
			d.awaitSucceeded(2)
			d.wantLedgerOf(d.ledgerAfterVerified(2), "2", 2, 2)
		})
	}
}
