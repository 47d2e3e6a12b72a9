package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/phase"
)

// A Runner carries out one call.
type Runner interface {
	// Run returns what follows from an input. An error is a bug.
	Run(ctx context.Context, in function.Input) (*function.Output, error)
}

// Function is the edge between Crossplane's protocol and the core. It is the only place that knows protobuf.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	core Runner
	log  logging.Logger
	ttl  time.Duration
	now  func() time.Time

	answers *answers
}

// NewFunction returns a Function that answers with a core's output, for as long as ttl.
func NewFunction(core Runner, log logging.Logger, ttl time.Duration, now func() time.Time) *Function {
	return &Function{core: core, log: log, ttl: ttl, now: now, answers: newAnswers(0)}
}

// Remember up to about maxBytes of answers, and give them again to equal requests. Answers that a clock had a part in, and those
// that say of a bug, are not remembered. It returns the Function.
func (f *Function) Remember(maxBytes int) *Function {
	f.answers = newAnswers(maxBytes)
	return f
}

// RunFunction decodes a request, runs the core, and encodes its output. Whatever a user did wrong is in the status; a fatal
// result is for bugs.
func (f *Function) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	f.log.Debug("Running function", "tag", req.GetMeta().GetTag())
	rsp, err := f.answer(ctx, req)
	if err != nil {
		rsp = response.To(req, f.ttl)
		response.Fatal(rsp, err)
	}
	// A remembered response has the tag of another request.
	rsp.Meta.Tag = req.GetMeta().GetTag()
	return rsp, nil
}

// answer a request, from memory or anew. An error is fatal.
func (f *Function) answer(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	key, err := keyOf(req)
	if err != nil {
		return nil, err
	}
	if known, err := f.answers.get(key); known != nil || err != nil {
		return known, err
	}
	in, err := decode(req)
	if err != nil {
		return nil, err
	}
	in.Now = metav1.NewTime(f.now().UTC().Truncate(time.Second))
	out, err := f.core.Run(ctx, in)
	if err != nil {
		return nil, errors.Wrap(err, "cannot run")
	}
	if err := pace(in, out); err != nil {
		return nil, err
	}
	rsp := response.To(req, f.lifetime(out))
	if err := encode(rsp, out); err != nil {
		return nil, err
	}
	if !lasting(in, out) {
		return rsp, nil
	}
	return rsp, f.answers.put(key, rsp)
}

// lifetime is how long an output counts. One that will change by itself counts until then.
func (f *Function) lifetime(out *function.Output) time.Duration {
	if out.Wait > 0 {
		return min(f.ttl, out.Wait)
	}
	return f.ttl
}

// composite is what is read of a composite resource of either shape.
type composite struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		deploymentv1alpha1.IntentDeploymentSpec `json:",inline"`

		ClaimRef *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"claimRef"`
	} `json:"spec"`
	Status struct {
		deploymentv1alpha1.IntentDeploymentStatus `json:",inline"`

		Conditions []phase.Condition `json:"conditions"`
	} `json:"status"`
}

// claim is the claim, or the namespaced composite itself.
func (c *composite) claim() (rolloutv1alpha1.ClaimReference, error) {
	if c.Spec.ClaimRef != nil {
		return rolloutv1alpha1.ClaimReference{
			APIGroup:  deploymentv1alpha1.GroupClaims,
			Kind:      deploymentv1alpha1.Kind,
			Namespace: c.Spec.ClaimRef.Namespace,
			Name:      c.Spec.ClaimRef.Name,
		}, nil
	}
	if c.Metadata.Namespace == "" {
		return rolloutv1alpha1.ClaimReference{}, errors.Errorf("%s %q has neither a claim nor a namespace: make it by a claim", c.Kind, c.Metadata.Name)
	}
	return rolloutv1alpha1.ClaimReference{
		APIGroup:  deploymentv1alpha1.GroupNamespaced,
		Kind:      deploymentv1alpha1.Kind,
		Namespace: c.Metadata.Namespace,
		Name:      c.Metadata.Name,
	}, nil
}

func decode(req *fnv1.RunFunctionRequest) (function.Input, error) {
	c := &composite{}
	if err := decodeInto(req.GetObserved().GetComposite().GetResource(), c); err != nil {
		return function.Input{}, errors.Wrap(err, "cannot read the observed composite")
	}
	claim, err := c.claim()
	if err != nil {
		return function.Input{}, err
	}
	in := function.Input{
		Claim:      claim,
		Spec:       c.Spec.IntentDeploymentSpec,
		Status:     c.Status.IntentDeploymentStatus,
		Conditions: c.Status.Conditions,
		Observed:   map[string]*unstructured.Unstructured{},
		Answers:    catalog.Answers{},
	}
	for name, r := range req.GetObserved().GetResources() {
		in.Observed[name] = &unstructured.Unstructured{}
		if err := decodeInto(r.GetResource(), in.Observed[name]); err != nil {
			return in, errors.Wrapf(err, "cannot read composed resource %q", name)
		}
	}
	return in, decodeAnswers(req, in.Answers)
}

func decodeAnswers(req *fnv1.RunFunctionRequest, answers catalog.Answers) error {
	for name, group := range req.GetRequiredResources() {
		answers[name] = []json.RawMessage{}
		for _, r := range group.GetItems() {
			b, err := protojson.Marshal(r.GetResource())
			if err != nil {
				return errors.Wrapf(err, "cannot read required resource %q", name)
			}
			answers[name] = append(answers[name], b)
		}
	}
	return nil
}

// decodeInto goes by JSON: the SDK's own objects hold every number as a float.
func decodeInto(s *structpb.Struct, into any) error {
	b, err := protojson.Marshal(s)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func encode(rsp *fnv1.RunFunctionResponse, out *function.Output) error {
	rsp.Requirements = requirements(out.Needs)
	status, err := structOf(map[string]any{"status": out.Status})
	if err != nil {
		return errors.Wrap(err, "cannot encode the status")
	}
	if rsp.GetDesired() == nil {
		rsp.Desired = &fnv1.State{}
	}
	rsp.Desired.Composite = &fnv1.Resource{Resource: status, Ready: ready(out.Ready)}
	// What earlier functions of the pipeline ask for stays.
	if rsp.GetDesired().GetResources() == nil {
		rsp.Desired.Resources = map[string]*fnv1.Resource{}
	}
	for _, name := range slices.Sorted(maps.Keys(out.Resources)) {
		r := out.Resources[name]
		o, err := structOf(r.Object.Object)
		if err != nil {
			return errors.Wrapf(err, "cannot encode composed resource %q", name)
		}
		rsp.Desired.Resources[name] = &fnv1.Resource{Resource: o, Ready: ready(r.Ready)}
	}
	for _, c := range out.Conditions {
		rsp.Conditions = append(rsp.Conditions, condition(c))
	}
	return nil
}

func requirements(needs []catalog.Need) *fnv1.Requirements {
	out := &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{}}
	for _, n := range needs {
		s := &fnv1.ResourceSelector{ApiVersion: n.APIVersion, Kind: n.Kind}
		if n.MatchName != "" {
			s.Match = &fnv1.ResourceSelector_MatchName{MatchName: n.MatchName}
		}
		if len(n.MatchLabels) > 0 {
			s.Match = &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{Labels: n.MatchLabels}}
		}
		if n.Namespace != "" {
			s.Namespace = &n.Namespace
		}
		out.Resources[n.Name] = s
	}
	return out
}

func condition(c phase.Condition) *fnv1.Condition {
	status := map[corev1.ConditionStatus]fnv1.Status{
		corev1.ConditionTrue:  fnv1.Status_STATUS_CONDITION_TRUE,
		corev1.ConditionFalse: fnv1.Status_STATUS_CONDITION_FALSE,
	}[c.Status]
	if c.Status == corev1.ConditionUnknown {
		status = fnv1.Status_STATUS_CONDITION_UNKNOWN
	}
	return &fnv1.Condition{
		Type:    c.Type,
		Status:  status,
		Reason:  c.Reason,
		Message: &c.Message,
		Target:  fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	}
}

func ready(is bool) fnv1.Ready {
	if is {
		return fnv1.Ready_READY_TRUE
	}
	return fnv1.Ready_READY_FALSE
}

func structOf(v any) (*structpb.Struct, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	s := &structpb.Struct{}
	return s, protojson.Unmarshal(b, s)
}
