package release

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/patience"
)

const (
	// claimVersion is the API version of claims.
	claimVersion = "claims.intentplane.dev/v1alpha1"

	// watchPause is the time between two watches of an object. Without it, the watches of all tests would keep an API server busy that has just started.
	watchPause = 100 * time.Millisecond
)

// A Plan is how a claim wants its revisions to go out.
type Plan struct {
	// Steps of each wave that has none of its own.
	Steps []any

	// Waves, if there are several.
	Waves []any

	// Gates of each step: the claim's gatesConfig.
	Gates map[string]any

	// OnInconclusive is the action of a Gate without a verdict: Reject or Hold. Empty leaves it to the default.
	OnInconclusive string

	// Rollback is the claim's rollbackConfig.
	Rollback map[string]any

	// Replicas is how many pods a track has at full size. 0 means Replicas.
	Replicas int

	// IsPlain asks for the Blueprint without tracks, which takes no steps.
	IsPlain bool
}

// blueprintOf returns the name of the Blueprint of a plan.
func (r *Release) blueprintOf(p Plan) string {
	if p.IsPlain {
		return r.Namespace + "-plain"
	}
	return r.Namespace
}

// Weight is a step that gives a revision a share of the requests.
func Weight(percent int64) map[string]any { return map[string]any{"weight": percent} }

// Pause is a step that lasts some time, or until a user ends it if that is empty.
func Pause(duration string) map[string]any {
	pause := map[string]any{}
	if duration != "" {
		pause["duration"] = duration
	}
	return map[string]any{"pause": pause}
}

// NewClaim describes the deployment with an image.
func (r *Release) NewClaim(image int, p Plan) *unstructured.Unstructured {
	names := make([]string, len(r.Sites))
	for i, s := range r.Sites {
		names[i] = fmt.Sprintf("%q", s.Name)
	}
	text := fmt.Sprintf(`{"service": %q, "type": "web-canary", "sites": [%s], "replicas": %d, "image": "registry.example.org/web:%d", "parameters": {"gateway": %q, "gateway-namespace": %q}}`,
		Claim, strings.Join(names, ", "), cmp.Or(p.Replicas, Replicas), image, kubernetes.GatewayName, kubernetes.GatewayNamespace)
	delivery := map[string]any{
		"gitOpsRepo": map[string]any{"kind": "ClusterProviderConfig", "name": r.Namespace},
	}
	if !p.IsPlain {
		delivery["canary"] = p.canarySpec()
	}
	if len(p.Waves) > 0 {
		delivery["waves"] = p.Waves
	}
	spec := map[string]any{"intent": text, "blueprint": map[string]any{"name": r.blueprintOf(p)}, "deliveryConfig": delivery}
	if p.Gates != nil {
		spec["gatesConfig"] = p.Gates
	}
	if p.Rollback != nil {
		spec["rollbackConfig"] = p.Rollback
	}
	o := r.newUnstructured(claimVersion, "IntentDeployment", Claim)
	o.Object["spec"] = spec
	return o
}

// Ask for a revision with an image. It returns an error if the claim is refused.
func (r *Release) Ask(ctx context.Context, image int, p Plan) error {
	return r.cp.ApplyObject(ctx, r.NewClaim(image, p))
}

// canarySpec returns the claim's deliveryConfig.canary.
func (p Plan) canarySpec() map[string]any {
	out := map[string]any{"drain": Drain, "steps": p.Steps}
	if p.OnInconclusive != "" {
		out["onInconclusive"] = p.OnInconclusive
	}
	return out
}

func (r *Release) newUnstructured(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(r.Namespace)
	o.SetName(name)
	return o
}

// AwaitClaim waits until the claim fulfils a condition, and returns it. It returns an error with the last status if it does not in time.
func (r *Release) AwaitClaim(ctx context.Context, description string, condition func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	return r.Await(ctx, r.newUnstructured(claimVersion, "IntentDeployment", Claim), description, condition)
}

// AwaitSync waits until the SiteSync fulfils a condition, and returns it.
func (r *Release) AwaitSync(ctx context.Context, description string, condition func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	return r.Await(ctx, r.newUnstructured("delivery.intentplane.dev/v1alpha1", "SiteSync", ""), description, condition)
}

// Await waits until an object of the release fulfils a condition, and returns it. Without a name it is any one of its kind. It returns an error with
// the last status if none does in time.
func (r *Release) Await(ctx context.Context, o *unstructured.Unstructured, description string, condition func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Limit)
	defer cancel()
	last := map[string]any{}
	for ctx.Err() == nil {
		found := r.watchForCondition(ctx, o, func(observed *unstructured.Unstructured) bool {
			last, _, _ = unstructured.NestedMap(observed.Object, "status")
			return condition(observed)
		})
		if found != nil {
			return found, nil
		}
	}
	return nil, errors.Errorf("%s %s: %s: not in time; last seen: %v", o.GetKind(), o.GetName(), description, last)
}

// watchForCondition returns the first state of an object that fulfils a condition, or nil when the watch ends before.
func (r *Release) watchForCondition(ctx context.Context, o *unstructured.Unstructured, condition func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion(o.GetAPIVersion())
	all.SetKind(o.GetKind() + "List")
	opts := []client.ListOption{client.InNamespace(r.Namespace)}
	if o.GetName() != "" {
		opts = append(opts, client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", o.GetName())})
	}
	w, err := r.cp.Client.Watch(ctx, all, opts...)
	if err != nil {
		pauseWatch(ctx)
		return nil
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if observed, ok := e.Object.(*unstructured.Unstructured); ok && e.Type != watch.Deleted && condition(observed) {
			return observed
		}
	}
	pauseWatch(ctx)
	return nil
}

// pauseWatch waits for watchPause after a watch that did not start, or ended.
func pauseWatch(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(watchPause):
	}
}

// Request asks something of a revision, with further fields of a RolloutRequest, and waits until that is taken. It returns an error if it is not.
func (r *Release) Request(ctx context.Context, action rolloutv1alpha1.Action, revision int64, fields map[string]any) error {
	o := r.newUnstructured(rolloutv1alpha1.GroupVersion.String(), "RolloutRequest", "")
	o.SetGenerateName("ask-")
	spec := map[string]any{
		"deploymentRef": map[string]any{"apiGroup": "claims.intentplane.dev", "kind": "IntentDeployment", "name": Claim},
		"action":        string(action), "revision": revision, "requestedBy": "ann",
	}
	maps.Copy(spec, fields)
	o.Object["spec"] = spec
	if err := r.cp.Client.Create(ctx, o); err != nil {
		return errors.Wrapf(err, "cannot request %s", action)
	}
	_, err := r.Await(ctx, o, string(action)+" is taken", func(observed *unstructured.Unstructured) bool {
		return controlplane.Conditions(observed).GetCondition("Accepted").Reason != ""
	})
	return err
}

// Progress is how far a claim is.
type Progress struct {
	// Revision that the claim speaks of.
	Revision int64

	// Outcome of the revision, State of its canary, and its Step, such as 3/5. Empty means that there is none.
	Outcome, State, Step string
}

// ProgressOf returns how far a claim is.
func ProgressOf(o *unstructured.Unstructured) Progress {
	out := Progress{}
	out.Revision, _, _ = unstructured.NestedInt64(o.Object, "status", "revision")
	out.Outcome, _, _ = unstructured.NestedString(o.Object, "status", "outcome")
	out.State, _, _ = unstructured.NestedString(o.Object, "status", "canary", "state")
	out.Step, _, _ = unstructured.NestedString(o.Object, "status", "canary", "step")
	return out
}
