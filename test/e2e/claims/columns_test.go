package claims

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

func TestShapesSucceedAndShow(t *testing.T) {
	t.Parallel()
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1", "edge2")
			o := s.Succeed(shape.describe(s, "shop", intentWithReplicas(s, 2, "edge1", "edge2")))
			commit := s.AwaitCommits(1)[0].ID
			want := scene.Row{"PHASE": "Succeeded", "OUTCOME": "Succeeded", "REVISION": "1", "LIVE": "1", "COMMIT": commit[:7], "SITES": "2/2", "SYNCED": "True", "READY": "True"}
			wantColumns(t, "kubectl get "+shape.resource, awaitReadyRow(s, shape.resource, "shop"), want)
			wide := scene.ParseTable(s.Inside("get", "-o", "wide", shape.resource))["shop"]
			if !strings.ContainsAny(wide["SINCE"], "0123456789") || wide["MESSAGE"] == "" {
				t.Errorf("kubectl get -o wide %s: SINCE is %q, and MESSAGE %q", shape.resource, wide["SINCE"], wide["MESSAGE"])
			}
			composite := "intentdeployment.intentplane.dev/shop"
			if shape.resource == claimResource {
				composite = "xintentdeployment.claims.intentplane.dev/" + scene.Field(o, "spec", "resourceRef", "name")
			}
			wantColumns(t, "kubectl get composite", awaitReadyRow(s, "composite", composite), want)
			d := s.Delivery()
			wantColumns(t, "kubectl get gitdeliveries.delivery.intentplane.dev", scene.ParseTable(s.Inside("get", "gitdeliveries.delivery.intentplane.dev"))[d.GetName()],
				scene.Row{"CLAIM": "shop", "REVISION": "1", "COMMIT": commit, "REASON": "Delivered", "SYNCED": "True", "READY": "True"})
		})
	}
}

func TestWaitAndDigest(t *testing.T) {
	t.Parallel()
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			o := shape.describe(s, "shop", intentWithReplicas(s, 2, "edge1"))
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
			s.Inside("wait", "--timeout="+patience.Limit.String(), "--for=jsonpath={.status.intentDigest}="+digest, shape.resource+"/shop")
			s.Inside("wait", "--timeout="+patience.Limit.String(), "--for=condition=Ready", shape.resource+"/shop")
			if diff := cmp.Diff(digest, scene.Field(s.Now(o), "status", "intentDigest")); diff != "" {
				t.Errorf("status.intentDigest: -want, +got:\n%s", diff)
			}
			// Defaults, and fields that Crossplane adds, change nothing.
			existing := s.Inside("get", shape.resource, "shop", "--output=yaml")
			if diff := cmp.Diff(digest, strings.TrimSpace(s.Program(existing, s.Built("kubectl-intent"), "digest", "-"))); diff != "" {
				t.Errorf("digest of the applied object: -want, +got:\n%s", diff)
			}
		})
	}
}
