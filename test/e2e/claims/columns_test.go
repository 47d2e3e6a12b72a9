package claims

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

const (
	claimResource     = "intentdeployments.claims.intentplane.dev"
	compositeResource = "intentdeployments.intentplane.dev"
)

// A shape is one of the two shapes of an IntentDeployment.
type shape struct {
	resource string
	describe func(s *scene.Scene, name, intent string) *unstructured.Unstructured
}

func shapes() map[string]shape {
	return map[string]shape{
		"Claim":     {resource: claimResource, describe: (*scene.Scene).Claim},
		"Composite": {resource: compositeResource, describe: (*scene.Scene).Composite},
	}
}

// wants compares some columns of a row. AGE is there and says something.
func wants(t *testing.T, what string, row, want scene.Row) {
	t.Helper()
	got := scene.Row{}
	for name := range want {
		got[name] = row[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", what, diff)
	}
	if !strings.ContainsAny(row["AGE"], "0123456789") {
		t.Errorf("%s: AGE is %q", what, row["AGE"])
	}
}

// ready waits until kubectl shows an object as ready, and returns its row: Crossplane writes the conditions of a composite after the
// rest of its status, and later when it lost a race.
func ready(s *scene.Scene, resource, name string) scene.Row {
	s.T.Helper()
	var row scene.Row
	s.Until("READY of "+name, scene.Patience, func() bool {
		row = scene.ParseTable(s.Inside("get", resource))[name]
		return row["READY"] == "True"
	})
	return row
}

func TestShapesSucceedAndShow(t *testing.T) {
	t.Parallel()
	for name, shape := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1", "edge2")
			o := s.Succeed(shape.describe(s, "shop", intent(s, 2, "edge1", "edge2")))
			commit := s.AwaitCommits(1)[0].ID
			want := scene.Row{"PHASE": "Succeeded", "OUTCOME": "Succeeded", "REVISION": "1", "LIVE": "1", "COMMIT": commit[:7], "SITES": "2/2", "SYNCED": "True", "READY": "True"}
			wants(t, "kubectl get "+shape.resource, ready(s, shape.resource, "shop"), want)
			wide := scene.ParseTable(s.Inside("get", "-o", "wide", shape.resource))["shop"]
			if !strings.ContainsAny(wide["SINCE"], "0123456789") || wide["MESSAGE"] == "" {
				t.Errorf("kubectl get -o wide %s: SINCE is %q, and MESSAGE %q", shape.resource, wide["SINCE"], wide["MESSAGE"])
			}
			composite := "intentdeployment.intentplane.dev/shop"
			if shape.resource == claimResource {
				composite = "xintentdeployment.claims.intentplane.dev/" + scene.Field(o, "spec", "resourceRef", "name")
			}
			wants(t, "kubectl get composite", ready(s, "composite", composite), want)
			d := s.Delivery()
			wants(t, "kubectl get gitdeliveries.delivery.intentplane.dev", scene.ParseTable(s.Inside("get", "gitdeliveries.delivery.intentplane.dev"))[d.GetName()],
				scene.Row{"CLAIM": "shop", "REVISION": "1", "COMMIT": commit, "REASON": "Delivered", "SYNCED": "True", "READY": "True"})
		})
	}
}

func TestWaitAndDigest(t *testing.T) {
	t.Parallel()
	for name, shape := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			o := shape.describe(s, "shop", intent(s, 2, "edge1"))
			file := filepath.Join(t.TempDir(), "claim.json")
			b, err := o.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			digest := strings.TrimSpace(s.Program("", s.Built("kubectl-intent"), "digest", file))
			s.Inside("apply", "--server-side", "--filename", file)
			s.Inside("wait", "--timeout=60s", "--for=jsonpath={.status.intentDigest}="+digest, shape.resource+"/shop")
			s.Inside("wait", "--timeout=60s", "--for=condition=Ready", shape.resource+"/shop")
			if diff := cmp.Diff(digest, scene.Field(s.Now(o), "status", "intentDigest")); diff != "" {
				t.Errorf("status.intentDigest: -want, +got:\n%s", diff)
			}
			// Defaults, and what Crossplane adds, change nothing.
			there := s.Inside("get", shape.resource, "shop", "--output=yaml")
			if diff := cmp.Diff(digest, strings.TrimSpace(s.Program(there, s.Built("kubectl-intent"), "digest", "-"))); diff != "" {
				t.Errorf("digest of what is there: -want, +got:\n%s", diff)
			}
		})
	}
}
