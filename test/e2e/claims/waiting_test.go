package claims

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestWaitingInScripts edits a deployment several times, types the commands of the documentation about waiting, and records the changes of the
// conditions.
func TestWaitingInScripts(t *testing.T) {
	t.Parallel()
	blocks := waitingBlocks(t)
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			o := shape.describe(s, "shop", intentWithReplicas(s, 1, "edge1"))
			sh := newDocShell(s, strings.Split(o.GetAPIVersion(), "/")[0])
			s.Succeed(o)
			recorders := map[string]*recorder{"deployment": recordConditions(s, o, "Ready", "Validated")}
			if composite := compositeOf(s, o); composite != nil {
				recorders["composite"] = recordConditions(s, composite, "Ready", "Validated")
			}
			for i := range edits {
				sh.writeClaimFile(s.Set(o, intentWithReplicas(s, i+2, "edge1"), "spec", "intent"))
				output, err := sh.runDocBlock(blocks[i%len(blocks)])
				observed := s.Now(o)
				got := []any{err, scene.Number(observed, "status", "revision"), scene.Field(observed, "status", "phase"), scene.Field(observed, "status", "delivery", "gitCommit")}
				want := []any{error(nil), int64(i + 2), "Succeeded", s.Commits()[0].ID}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("edit %d, when the documented wait has ended: -want, +got:\n%s\n%s", i+1, diff, output)
				}
				s.Succeed(o)
			}
			for kind, r := range recorders {
				for typ, unlike := range map[string]string{"Ready": "False", "Validated": "Unknown"} {
					want := "True" + strings.Repeat(" "+unlike+" True", edits)
					s.Until(kind+" "+typ, patience.Limit, func() bool { return len(r.turnsOfCondition(typ)) >= len(want) })
					if diff := cmp.Diff(want, r.turnsOfCondition(typ)); diff != "" {
						t.Errorf("%s of the %s after %d edits: -want, +got:\n%s", typ, kind, edits, diff)
					}
				}
			}
			sh.writeClaimFile(s.Set(o, "{", "spec", "intent"))
			for _, block := range blocks {
				if output, err := sh.runDocBlock(block); err == nil {
					t.Errorf("the documented wait for an intent that cannot be understood ends with success:\n%s", output)
				}
			}
		})
	}
}
