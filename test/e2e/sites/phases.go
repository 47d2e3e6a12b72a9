package sites

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/scene"
)

// nowhere is an address without a server.
const nowhere = "http://127.0.0.1:1"

// A standpoint is a phase, and how a deployment to edge1 comes to stay in it.
type standpoint struct {
	phase deploymentv1alpha1.Phase
	// reach describes the deployment that stays in the phase, after the preceding phases.
	reach func(s *stage) *unstructured.Unstructured
	// seen are the transitions until then, and health is the health by kstatus and Argo CD.
	seen   []string
	health [2]string
	// revision that it has there.
	revision int64
}

// makeTimedClaim returns a deployment whose Site misses its timeout.
func (s *stage) makeTimedClaim(replicas int) *unstructured.Unstructured {
	s.suspendEngine("edge1", true)
	return s.Set(s.Claim(claim, s.intentWithReplicas(replicas)), "2s", "spec", "deliveryConfig", "syncWaitTimeout")
}

func standpoints() []standpoint {
	inProgress, bad := [2]string{"InProgress", "Progressing"}, [2]string{"Failed", "Degraded"}
	return []standpoint{
		{
			phase: deploymentv1alpha1.PhaseDelivering, seen: transitionsOfSuccess("1", "")[:4], health: inProgress, revision: 1,
			reach: func(s *stage) *unstructured.Unstructured { return s.Claim(claim, s.intentWithReplicas(1)) },
		},
		{
			phase: deploymentv1alpha1.PhaseValidating, seen: transitionsOfSuccess("1", "")[:5], health: inProgress, revision: 1,
			reach: func(s *stage) *unstructured.Unstructured {
				s.suspendEngine("edge1", false)
				s.Patch(s.NewSite("edge1"), `{"spec":{"metrics":{"prometheus":{"address":"`+nowhere+`"}}}}`)
				return (&trial{stage: s}).describeJudged(1, 1)
			},
		},
		{
			phase: deploymentv1alpha1.PhaseRollingBack, seen: slices.Concat(transitionsOfSuccess("1", ""), transitionLines("2", "Succeeded", "Pending", "Compiling", "Rendering", "Delivering", "Failed", "RollingBack")),
			health: inProgress, revision: 2,
			reach: func(s *stage) *unstructured.Unstructured {
				s.suspendEngine("edge1", false)
				s.Succeed(s.Claim(claim, s.intentWithReplicas(1)))
				return s.makeTimedClaim(2)
			},
		},
		{
			phase: deploymentv1alpha1.PhaseFailed, seen: transitionLines("1", "", "Pending", "Compiling", "Rendering", "Delivering", "Failed"), health: bad, revision: 1,
			reach: func(s *stage) *unstructured.Unstructured { return s.makeTimedClaim(1) },
		},
		{
			phase: deploymentv1alpha1.PhaseSucceeded, seen: transitionsOfSuccess("1", ""), health: [2]string{"Current", "Healthy"}, revision: 1,
			reach: func(s *stage) *unstructured.Unstructured {
				s.suspendEngine("edge1", false)
				return s.Claim(claim, s.intentWithReplicas(1))
			},
		},
	}
}

// stayInPhase wants a deployment to stay in a phase: nothing is on its way but the event that the phase waits for.
func (p standpoint) stayInPhase(s *stage) *unstructured.Unstructured {
	s.T.Helper()
	o := p.reach(s)
	u := s.Reach(o, "stays "+string(p.phase), func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == string(p.phase) && p.staysInPhase(u)
	})
	if p.phase == deploymentv1alpha1.PhaseRollingBack {
		s.AwaitCommits(3)
	}
	return u
}

// staysInPhase is true for a deployment in the phase for which nothing else is on its way.
func (p standpoint) staysInPhase(u *unstructured.Unstructured) bool {
	switch p.phase {
	case deploymentv1alpha1.PhaseFailed:
		return scene.Is(u, "Recorded", corev1.ConditionTrue, "") && scene.Is(u, "Stalled", corev1.ConditionTrue, "SyncTimedOut")
	case deploymentv1alpha1.PhaseRollingBack:
		return true
	case deploymentv1alpha1.PhaseSucceeded:
		return scene.Is(u, "Ready", corev1.ConditionTrue, "")
	}
	return scene.Is(u, "Delivered", corev1.ConditionTrue, "")
}

func (p standpoint) checkStandpoint(s *stage, u *unstructured.Unstructured) {
	s.T.Helper()
	s.WantEqual("transitions until "+string(p.phase), p.seen, s.logOfTransitions(u))
	s.wantHealthStatus(u, p.health[0], p.health[1])
}

// composedNames are the names of all managed resources in the namespace.
func (s *stage) composedNames() string {
	s.T.Helper()
	return s.Inside("get", "gitdeliveries.delivery.intentplane.dev,sitesyncs.delivery.intentplane.dev,"+gatesResource, "-o", "name")
}

// closedRevision is the last revision in the ledger of the deleted claim, or -1 if the ledger is not closed.
func (s *stage) closedRevision() int64 {
	s.T.Helper()
	files, err := s.Git.Files(s.T.Context(), s.Namespace, "refs/intentplane/test/state")
	s.Must(err)
	var file struct {
		State ledger.State `json:"state"`
	}
	s.Must(json.Unmarshal([]byte(files["claims.intentplane.dev/"+s.Namespace+"/"+claim+"/ledger.json"]), &file))
	if !file.State.IsClosed {
		return -1
	}
	return file.State.LastNumber
}
