package cause_test

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/function/phase"
)

// edit changes the facts of a sample.
func edit(s *samples.Sample, change func(*cause.Facts)) *cause.Facts {
	f := s.Facts()
	change(f)
	return f
}

// rename a condition of the deployment, as Crossplane would write it.
func setCondition(f *cause.Facts, typ, reason, message string) {
	all := f.Deployment.Status.Conditions
	for i := range all {
		if all[i].Type == typ {
			all[i].Status, all[i].Reason, all[i].Message = metav1.ConditionFalse, reason, message
		}
	}
}

// setSynced lets the GitDelivery say that the provider cannot reconcile it.
func setSynced(f *cause.Facts, message string) {
	f.Deliveries[0].Status.SetConditions(xpv2.ReconcileError(errors.New(message)))
}

func object(kind, name, typ string, status metav1.ConditionStatus) cause.Object {
	o := cause.Object{}
	o.Kind, o.Metadata.Name = kind, name
	o.Status.Conditions = cause.Conditions{{Type: typ, Status: status, Reason: "Why", Message: "Words."}}
	return o
}

func withProblem(p phase.Problem) *samples.Sample {
	s := samples.Verified()
	s.Input.Problem = &p
	return s
}

func request(name, reason string) rolloutv1alpha1.RolloutRequest {
	r := rolloutv1alpha1.RolloutRequest{}
	r.Name = name
	if reason != "" {
		c := samples.NotReady(reason, "The deployment is suspended.")
		c.Type = rolloutv1alpha1.TypeCompleted
		r.Status.SetConditions(c)
	}
	return r
}

func renewed(ago time.Duration) *metav1.MicroTime {
	timestamp := metav1.NewMicroTime(samples.Now().Add(-ago))
	return &timestamp
}

func TestFindForDeployment(t *testing.T) {
	type want struct {
		object, reason string
		actor          advice.Actor
		needsPerson    bool
		isGood         bool
	}
	late := func(f *cause.Facts) { f.Deliveries[0].Generation++ }
	stale := func(f *cause.Facts) { f.SpecDigest = "another" }
	cases := map[string]struct {
		reason string
		facts  *cause.Facts
		want   want
	}{
		"Runs": {
			reason: "Nothing is in the way of a revision that was verified and runs.", facts: samples.Verified().Facts(),
			want: want{object: "IntentDeployment shop", reason: "Idle", actor: advice.NoActor, isGood: true},
		},
		"WrongPassword": {
			reason: "The GitDelivery that cannot log in is the cause.", facts: samples.WrongPassword().Facts(),
			want: want{object: "GitDelivery shop-fleet", reason: "AuthFailed", actor: advice.PlatformTeam, needsPerson: true},
		},
		"Blind": {
			reason: "A user without the right to read GitDeliveries sees their status in the deployment itself.",
			facts:  edit(samples.WrongPassword(), func(f *cause.Facts) { f.Deliveries, f.Syncs = nil, nil }),
			want:   want{object: "Site edge1", reason: "AuthFailed", actor: advice.PlatformTeam, needsPerson: true},
		},
		"EngineFailed": {
			reason: "The engine's own message ends the chain, and its Site says who acts.", facts: samples.EngineFailed().Facts(),
			want: want{object: "Kustomization at Site edge1", reason: "EngineFailed", actor: advice.Author, needsPerson: true},
		},
		"BlindToEngine": {
			reason: "A user without the right to read SiteSyncs sees the status of the Site in the deployment itself.",
			facts:  edit(samples.EngineFailed(), func(f *cause.Facts) { f.Syncs = nil }),
			want:   want{object: "Site edge1", reason: "EngineFailed", actor: advice.Author, needsPerson: true},
		},
		"RollingBack": {
			reason: "A rollback goes on by itself.", facts: samples.RollingBack().Facts(),
			want: want{object: "Kustomization at Site edge1", reason: "Progressing", actor: advice.NoActor},
		},
		"RolledBack": {
			reason: "A revision that was rolled back names why it was rejected.", facts: samples.RolledBack().Facts(),
			want: want{object: "revision 7", reason: "GateFailed", actor: advice.Author, needsPerson: true},
		},
		"HeldBack": {
			reason: "A request that spec.suspend holds back waits for the user, whatever the outcome of the previous request.",
			facts: func() *cause.Facts {
				s := samples.RolledBack()
				s.Input.Holds.Start, s.Spec.Suspend = step.HoldSuspended, new(true)
				return s.Facts()
			}(),
			want: want{object: "IntentDeployment shop", reason: "Suspended", actor: advice.Author, needsPerson: true},
		},
		"Paused": {
			reason: "A pause that has an end needs no person.", facts: samples.Canary(false).Facts(),
			want: want{object: "IntentDeployment shop", reason: "Paused", actor: advice.NoActor},
		},
		"Manual": {
			reason: "A step that waits for a user needs a person.", facts: samples.Canary(true).Facts(),
			want: want{object: "IntentDeployment shop", reason: "AwaitingPromotion", actor: advice.Author, needsPerson: true},
		},
		"BlueprintMissing": {
			reason: "A missing object that the spec names is the cause.",
			facts:  withProblem(phase.Problem{Reason: deploymentv1alpha1.ReasonBlueprintMissing, Message: "no Blueprint web"}).Facts(),
			want:   want{object: "IntentDeployment shop", reason: "BlueprintMissing", actor: advice.PlatformTeam, needsPerson: true},
		},
		"InvalidSpec": {
			reason: "A field that is wrong is the author's.",
			facts:  withProblem(phase.Problem{Reason: deploymentv1alpha1.ReasonInvalidSpec, Message: "spec.x", Terminal: true, Phase: deploymentv1alpha1.PhasePending}).Facts(),
			want:   want{object: "IntentDeployment shop", reason: "InvalidSpec", actor: advice.Author, needsPerson: true},
		},
		"FunctionStopped": {
			reason: "A status that does not speak about the spec names the function.", facts: edit(samples.Verified(), stale),
			want: want{object: "IntentDeployment shop", reason: advice.ReasonNotComposed, actor: advice.PlatformTeam},
		},
		"FunctionUnhealthy": {
			reason: "A package of the function that is not healthy is the cause of a status that does not speak about the spec.",
			facts: edit(samples.Verified(), func(f *cause.Facts) {
				stale(f)
				f.Installed.Functions = []cause.Object{object("Function", "function-intentplane", "Healthy", metav1.ConditionFalse)}
			}),
			want: want{object: "function function-intentplane", reason: advice.ReasonPackageUnhealthy, actor: advice.PlatformTeam, needsPerson: true},
		},
		"FunctionFails": {
			reason: "A composite that is not Synced names the failure of Crossplane.",
			facts: edit(samples.Verified(), func(f *cause.Facts) {
				stale(f)
				setCondition(f, "Synced", "ReconcileError", "cannot run Composition pipeline step")
			}),
			want: want{object: "function", reason: advice.ReasonCannotCompose, actor: advice.PlatformTeam, needsPerson: true},
		},
		"CompositeFails": {
			reason: "The composite of a claim is followed.",
			facts: edit(samples.Verified(), func(f *cause.Facts) {
				o := object("XIntentDeployment", "shop-x", "Synced", metav1.ConditionFalse)
				f.Installed.Composite = &o
			}),
			want: want{object: "function", reason: advice.ReasonCannotCompose, actor: advice.PlatformTeam, needsPerson: true},
		},
		"BreakerOpen": {
			reason: "An open circuit breaker comes before all that it hides.",
			facts:  edit(samples.EngineFailed(), func(f *cause.Facts) { setCondition(f, "Responsive", "WatchCircuitOpen", "Too many watch events.") }),
			want:   want{object: "Crossplane's circuit breaker", reason: advice.ReasonWatchCircuitOpen, actor: advice.PlatformTeam},
		},
		"DefinitionInactive": {
			reason: "A definition that is not offered is the cause of a status that does not speak about the spec.",
			facts: edit(samples.Verified(), func(f *cause.Facts) {
				stale(f)
				f.Installed.Definitions = []cause.Object{object("CompositeResourceDefinition", "x", "Established", metav1.ConditionFalse)}
			}),
			want: want{object: "definition x", reason: advice.ReasonDefinitionNotActive, actor: advice.PlatformTeam, needsPerson: true},
		},
		"KindMissing": {
			reason: "A kind that the cluster does not serve is the cause.",
			facts: edit(samples.WrongPassword(), func(f *cause.Facts) {
				f.Deliveries, f.Installed.Missing = nil, []string{"gitdeliveries.delivery.intentplane.dev"}
			}),
			want: want{object: "gitdeliveries.delivery.intentplane.dev", reason: advice.ReasonDefinitionNotActive, actor: advice.PlatformTeam, needsPerson: true},
		},
		"ProviderLate": {
			reason: "An object that changed a moment ago is not blamed on a provider that renews its lease.",
			facts: edit(samples.WrongPassword(), func(f *cause.Facts) {
				late(f)
				f.Installed.Renewed = renewed(2 * time.Second)
			}),
			want: want{object: "GitDelivery shop-fleet", reason: advice.ReasonNotReconciled, actor: advice.PlatformTeam},
		},
		"ProviderLacksRight": {
			reason: "A right that the provider lacks is the cause, and not that it did not observe the object.",
			facts: edit(samples.WrongPassword(), func(f *cause.Facts) {
				late(f)
				setSynced(f, `cannot connect: usages is forbidden: User "system:serviceaccount:a:b" cannot create resource "usages"`)
			}),
			want: want{object: "GitDelivery shop-fleet", reason: advice.ReasonRightMissing, actor: advice.PlatformTeam, needsPerson: true},
		},
		"CrossplaneLacksRight": {
			reason: "A right that Crossplane lacks is the cause, and not the function.",
			facts: edit(samples.Verified(), func(f *cause.Facts) {
				setCondition(f, "Synced", "ReconcileError", `cannot apply: gates is forbidden: User "system:serviceaccount:a:crossplane" cannot patch resource "gates"`)
			}),
			want: want{object: "Crossplane", reason: advice.ReasonRightMissing, actor: advice.PlatformTeam, needsPerson: true},
		},
		"ProviderStopped": {
			reason: "A provider that does not renew its lease has stopped.",
			facts: edit(samples.WrongPassword(), func(f *cause.Facts) {
				late(f)
				f.Installed.Renewed = renewed(5 * time.Minute)
			}),
			want: want{object: "GitDelivery shop-fleet", reason: advice.ReasonProviderStopped, actor: advice.PlatformTeam, needsPerson: true},
		},
		"ProviderUnhealthy": {
			reason: "A provider whose package is not healthy has stopped.",
			facts: edit(samples.WrongPassword(), func(f *cause.Facts) {
				late(f)
				f.Installed.Providers = []cause.Object{object("Provider", "provider-intentplane", "Healthy", metav1.ConditionFalse)}
			}),
			want: want{object: "GitDelivery shop-fleet", reason: advice.ReasonProviderStopped, actor: advice.PlatformTeam, needsPerson: true},
		},
		"Deleted": {
			reason: "An object that is being deleted has no other cause.",
			facts: edit(samples.WrongPassword(), func(f *cause.Facts) {
				deletedAt := metav1.NewTime(samples.Now())
				f.Deployment.Metadata.DeletionTimestamp = &deletedAt
			}),
			want: want{object: "IntentDeployment shop", reason: advice.ReasonBeingDeleted, actor: advice.NoActor},
		},
		"WaitingRequest": {
			reason: "A request that waits is named although the deployment runs.",
			facts:  edit(samples.Verified(), func(f *cause.Facts) { f.Requests = []rolloutv1alpha1.RolloutRequest{request("r", "Waiting")} }),
			want:   want{object: "RolloutRequest r", reason: "Waiting", actor: advice.NoActor},
		},
		"DoneRequest": {
			reason: "A refused request blocks no deployment.",
			facts:  edit(samples.Verified(), func(f *cause.Facts) { f.Requests = []rolloutv1alpha1.RolloutRequest{request("r", "Stale")} }),
			want:   want{object: "IntentDeployment shop", reason: "Idle", actor: advice.NoActor, isGood: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found := cause.FindForDeployment(tc.facts, samples.Now())
			got := want{object: found.Cause().Object, reason: found.Reason(), actor: found.Actor, needsPerson: found.NeedsPerson(), isGood: found.IsGood}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nFindForDeployment(...): -want, +got:\n%s%+v", tc.reason, diff, found)
			}
			if !found.IsGood && (found.Do == "" || found.Wakes == "") {
				t.Errorf("\n%s\nFindForDeployment(...): it names neither an action nor the event that wakes the deployment: %+v", tc.reason, found)
			}
		})
	}
}

// TestRejectedStays checks that a rejected revision is not delivered again when its cause disappears by itself.
func TestRejectedStays(t *testing.T) {
	s := samples.EngineFailed()
	s.Sync.Status.AtProvider.Sites[0].Reason = "ClusterUnreachable"
	f := s.Facts()
	for i, c := range f.Deployment.Status.Conditions {
		if c.Type == deploymentv1alpha1.TypeStalled {
			f.Deployment.Status.Conditions[i].Status, f.Deployment.Status.Conditions[i].Reason = metav1.ConditionTrue, deploymentv1alpha1.ReasonSyncTimedOut
		}
	}
	found := cause.FindForDeployment(f, samples.Now())
	want := "Wait for the end of the outage; if it lasts, check the cluster's API server and the network. Then change the intent, or use kubectl intent retry."
	if diff := cmp.Diff(want, found.Do); diff != "" || !found.NeedsPerson() || found.Wakes != advice.WakeRequest {
		t.Errorf("-want, +got:\n%s%+v", diff, found)
	}
}
