package engines

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestArgoProof observes an Application that applied a commit with success, from sources that leave nothing out or something.
func TestArgoProof(t *testing.T) {
	const source = `{"repoURL": "https://git.example.org/fleet.git", "targetRevision": "main", "path": "DIR"DIRECTORY}`
	const application = `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "o", "namespace": "n"},
		"spec": {"destination": {"name": "in-cluster"}, "source": SOURCE},
		"status": {"health": {"status": "Healthy"}, "sync": {"status": "Synced", "revision": "0123456789abcdef0123456789abcdef01234567",
			"comparedTo": {"destination": {"name": "in-cluster"}, "source": SOURCE}}}}`
	w := Want{URL: "https://git.example.org/fleet.git", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
	cases := map[string]struct {
		reason    string
		dir       string
		directory string
		want      v1alpha1.Proof
	}{
		"All":       {reason: "A source that reads all files of the claim proves exactly what is applied.", dir: w.ClaimDir, want: v1alpha1.ProofExact},
		"Include":   {reason: "A source with include leaves out the files that do not match.", dir: w.ClaimDir, directory: `{"include": "*.yaml"}`, want: v1alpha1.ProofTransformed},
		"Exclude":   {reason: "A source with exclude leaves out the files that match.", dir: w.ClaimDir, directory: `{"exclude": "secrets/*"}`, want: v1alpha1.ProofTransformed},
		"Shallow":   {reason: "A source of a directory above the claim's that does not recurse leaves out the claim's files.", dir: w.SiteDir, want: v1alpha1.ProofTransformed},
		"Recursive": {reason: "A source of a directory above the claim's that recurses reads the claim's files.", dir: w.SiteDir, directory: `{"recurse": true}`, want: v1alpha1.ProofExact},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			directory := ""
			if tc.directory != "" {
				directory = `, "directory": ` + tc.directory
			}
			doc := strings.ReplaceAll(application, "SOURCE", strings.NewReplacer("DIRECTORY", directory, "DIR", tc.dir).Replace(source))
			got := observeEngine(catalogv1alpha1.EngineArgoCD, w, decodeJSONObject(t, json.RawMessage(doc)), nil)
			if got.Reason != "" {
				t.Fatalf("\n%s\nobserveEngine(): want no reason, got %s: %s", tc.reason, got.Reason, got.Message)
			}
			if diff := cmp.Diff(tc.want, got.Proof); diff != "" {
				t.Errorf("\n%s\nobserveEngine(): proof: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
