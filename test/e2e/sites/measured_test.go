package sites

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/gaterecord"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
)

// measuredKey is the key of the ConfigMap that keeps what was measured of a revision.
func (r *trial) measuredKey(revision int) client.ObjectKey {
	return client.ObjectKey{Namespace: r.Namespace, Name: fmt.Sprintf("%s-measured-r%d", claim, revision)}
}

// awaitMeasured returns what the Gate of a revision measured, once its verdict is kept.
func (r *trial) awaitMeasured(revision int) gaterecord.Gate {
	r.T.Helper()
	out := gaterecord.Gate{}
	r.Until(fmt.Sprintf("the verdict of revision %d is kept", revision), patience.Limit, func() bool {
		cm := &corev1.ConfigMap{}
		if r.Client.Get(r.T.Context(), r.measuredKey(revision), cm) != nil {
			return false
		}
		for _, text := range cm.Data {
			out = gaterecord.Gate{}
			r.Must(json.Unmarshal([]byte(text), &out))
		}
		return out.Verdict != ""
	})
	return out
}

// TestMeasured keeps the measurements of a revision that passed and of one that failed, until their deployment is deleted.
func TestMeasured(t *testing.T) {
	t.Parallel()
	r := unobserved(t)
	o := r.describeJudged(1, 3)
	r.Succeed(o)
	r.target.Set("error_ratio", bad)
	r.awaitOutcome(r.describeJudged(2, 60), "Succeeded", "RolledBack")
	for revision, verdict := range map[int]rolloutv1alpha1.GateVerdict{1: rolloutv1alpha1.GatePassed, 2: rolloutv1alpha1.GateFailed} {
		g := r.awaitMeasured(revision)
		if g.Verdict != verdict || len(g.Checks) != 1 || len(g.Checks[0].Measurements) == 0 {
			t.Fatalf("what was measured of revision %d: %+v", revision, g)
		}
		c := g.Checks[0]
		outcome := map[rolloutv1alpha1.GateVerdict]string{rolloutv1alpha1.GatePassed: "Pass", rolloutv1alpha1.GateFailed: "Fail"}[verdict]
		last := c.Measurements[len(c.Measurements)-1]
		if diff := cmp.Diff([]string{"errors", r.Site("edge1"), "<= 0.05", outcome, c.Value}, []string{c.Name, c.Site, c.Threshold, last.Outcome, last.Value}); diff != "" || c.Value == "" {
			t.Errorf("check and last measurement of revision %d: -want, +got:\n%s", revision, diff)
		}
	}
	said := r.Program("", r.Built("kubectl-intent"), "logs", "intentdeployments.claims.intentplane.dev/"+claim, "errors", "-n", r.Namespace, "--revision", "2", "--kubeconfig", cp.Kubeconfig)
	if !strings.Contains(said, "Fail ") || !strings.Contains(said, "<= 0.05") {
		t.Errorf("kubectl intent logs --revision 2: %s", said)
	}
	r.Delete(o)
	r.Gone(o)
	r.Until("what was measured goes with the deployment", patience.Limit, func() bool {
		return kerrors.IsNotFound(r.Client.Get(t.Context(), r.measuredKey(2), &corev1.ConfigMap{}))
	})
}
