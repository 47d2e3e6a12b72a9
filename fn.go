package main

import (
	"context"
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
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
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/desired"
	"github.com/intentplane/intentplane/function/projection"
)

// A Runner carries out one call.
type Runner interface {
	// Run returns the output for an input. An error is a bug.
	Run(ctx context.Context, in deployment.Input) (*deployment.Output, error)
}

// Function is the edge between Crossplane's protocol and the core. It is the only place that knows protobuf.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	core Runner
	log  logging.Logger
	ttl  time.Duration
	now  func() time.Time

	answers   *responseCache
	telemetry *telemetry
}

// NewFunction returns a Function that answers with a core's output, for as long as ttl.
func NewFunction(core Runner, log logging.Logger, ttl time.Duration, now func() time.Time) *Function {
	return &Function{core: core, log: log, ttl: ttl, now: now, answers: newResponseCache(0)}
}

// Remember caches up to about maxBytes of responses for equal requests. Responses that depend on the time, and responses that report a bug,
// are not cached. It returns the Function.
func (f *Function) Remember(maxBytes int) *Function {
	f.answers = newResponseCache(maxBytes)
	return f
}

// Measure counts answers, and the time that calls take. It returns the Function.
func (f *Function) Measure(t *telemetry) *Function {
	f.telemetry = t
	return f
}

// RunFunction decodes a request, runs the core, and encodes its output. Mistakes of users are reported in the status; a fatal
// result is for bugs.
func (f *Function) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	f.log.Debug("Running function", "tag", req.GetMeta().GetTag())
	rsp, err := f.answerOrRecover(ctx, req)
	if err != nil {
		f.telemetry.countAnswer(fromFailures)
		rsp = response.To(req, f.ttl)
		response.Fatal(rsp, err)
	}
	// A cached response has the tag of another request.
	rsp.Meta.Tag = req.GetMeta().GetTag()
	return rsp, nil
}

// answerOrRecover answers a request. A panic is the error of that one call: it would end the process, which serves the deployments of all tenants, and
// Crossplane would repeat the call for ever.
func (f *Function) answerOrRecover(ctx context.Context, req *fnv1.RunFunctionRequest) (rsp *fnv1.RunFunctionResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			f.log.Info("Function panicked", "tag", req.GetMeta().GetTag(), "panic", p, "stack", string(debug.Stack()))
			err = errors.New("the function panicked: this is a bug, and its log has the stack")
		}
	}()
	return f.answerRequest(ctx, req)
}

// answerRequest answers a request from the cache, or else from the core. An error is fatal.
func (f *Function) answerRequest(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	key, err := requestCacheKey(req)
	if err != nil {
		return nil, err
	}
	cached, err := f.answers.getResponse(key)
	if err != nil {
		return nil, err
	}
	if cached != nil {
		f.telemetry.countAnswer(fromMemory)
		return cached, nil
	}
	r, err := f.buildReply(ctx, req)
	if err != nil {
		return nil, err
	}
	passReconcileRequest(req, r)
	f.telemetry.countAnswer(fromCore)
	rsp := response.To(req, f.responseTTL(r.wait))
	r.resourceVersion = versionToKeep(req)
	if err := encodeReply(rsp, r); err != nil {
		return nil, err
	}
	if !r.lasting {
		return rsp, nil
	}
	return rsp, f.answers.putResponse(key, rsp)
}

// A reply is the answer to a request, before it is encoded.
type reply struct {
	needs      []catalog.Need
	resources  map[string]desired.Resource
	status     any
	conditions []projection.Condition
	ready      bool

	// wait is the time until the reply changes by itself. 0 means that it does not.
	wait time.Duration

	// passing is true for an intermediate status: a follow-up call writes the final status.
	passing bool

	// recording is true while a verdict is being recorded, or a deployment observes an image: a follow-up call writes status and conditions.
	recording bool

	// deferred is true if a later call writes the new status: status is then the observed status.
	deferred bool

	// lasting is true if the same request has the same reply at any time.
	lasting bool

	// resourceVersion of the composite that the reply follows from. Empty where it has none.
	resourceVersion string
}

// buildReply builds the reply to a request, by the kind of its composite.
func (f *Function) buildReply(ctx context.Context, req *fnv1.RunFunctionRequest) (*reply, error) {
	now := metav1.NewTime(f.now().UTC().Truncate(time.Second))
	if isApplicationRequest(req) {
		return applicationReply(req, now)
	}
	if isBundleRequest(req) {
		return bundleReply(req, now)
	}
	if isClusterRequest(req) {
		return clusterReply(req, now)
	}
	in, err := decodeDeployment(req)
	if err != nil {
		return nil, err
	}
	in.Now = now
	out, err := f.core.Run(ctx, in)
	if err != nil {
		return nil, errors.Wrap(err, "cannot run")
	}
	f.telemetry.observeStages(out.Stages)
	r := &reply{
		needs: out.Needs, resources: out.Resources, status: out.Status, conditions: out.Conditions, ready: out.Ready, wait: out.Wait,
	}
	isSame := slices.Equal(in.Status.Requests, out.Status.Requests)
	r.passing, r.recording = out.Passing && isSame, out.Recording && isSame
	if err := deferStatus(in.Conditions, in.Status, r); err != nil {
		return nil, err
	}
	r.lasting = !out.Dated && (r.deferred || slices.Equal(in.Status.Transitions, out.Status.Transitions))
	return r, nil
}

// responseTTL returns how long Crossplane may use a response. A response that changes by itself is valid until its change.
func (f *Function) responseTTL(wait time.Duration) time.Duration {
	if wait > 0 {
		return min(f.ttl, wait)
	}
	return f.ttl
}

// A callInput is the content of a request beside its composite, for any kind of composite.
type callInput struct {
	// who is the namespaced composite, or the claim behind it.
	who      claimRef
	observed map[string]*unstructured.Unstructured
	answers  catalog.Answers
}

// decodeCallInput decodes the common parts of a request for every kind of composite. The metadata and the claim are the composite's.
func decodeCallInput(req *fnv1.RunFunctionRequest, t metav1.TypeMeta, m metav1.ObjectMeta, claim *claimRef) (callInput, error) {
	claimReference, err := claimOfComposite(t, m, claim)
	if err != nil {
		return callInput{}, err
	}
	observed, err := decodeObserved(req)
	if err != nil {
		return callInput{}, err
	}
	answers, err := decodeAnswers(req)
	return callInput{who: claimReference, observed: observed, answers: answers}, err
}

// decodeComposite decodes the fields of the observed composite that T has.
func decodeComposite[T any](req *fnv1.RunFunctionRequest) (*T, error) {
	out := new(T)
	return out, errors.Wrap(decodeStruct(req.GetObserved().GetComposite().GetResource(), out), "cannot read the observed composite")
}

func decodeAnswers(req *fnv1.RunFunctionRequest) (catalog.Answers, error) {
	out := catalog.Answers{}
	for name, group := range req.GetRequiredResources() {
		out[name] = []json.RawMessage{}
		for _, r := range group.GetItems() {
			b, err := protojson.Marshal(r.GetResource())
			if err != nil {
				return nil, errors.Wrapf(err, "cannot read required resource %q", name)
			}
			out[name] = append(out[name], b)
		}
	}
	return out, nil
}

// claimRef is the claim behind a composite. A namespaced composite has none.
type claimRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// claimOfComposite returns the namespaced composite itself, or the claim behind a composite in no namespace. A user writes the spec of a namespaced
// composite, so that a claim in it could name any namespace. Crossplane alone writes a composite that is in none.
func claimOfComposite(t metav1.TypeMeta, m metav1.ObjectMeta, claim *claimRef) (claimRef, error) {
	if m.Namespace != "" {
		return claimRef{Namespace: m.Namespace, Name: m.Name}, nil
	}
	if claim == nil {
		return claimRef{}, errors.Errorf("%s %q has neither a claim nor a namespace: make it by a claim", t.Kind, m.Name)
	}
	return *claim, nil
}

// decodeObserved decodes the composed resources of our own kinds. Other functions of the pipeline desire the others: a retained copy would undo their edits, and
// keep a resource that they remove.
func decodeObserved(req *fnv1.RunFunctionRequest) (map[string]*unstructured.Unstructured, error) {
	out := map[string]*unstructured.Unstructured{}
	for name, r := range req.GetObserved().GetResources() {
		if !isIntentplaneKind(r.GetResource()) {
			continue
		}
		out[name] = &unstructured.Unstructured{}
		if err := decodeStruct(r.GetResource(), out[name]); err != nil {
			return nil, errors.Wrapf(err, "cannot read composed resource %q", name)
		}
	}
	return out, nil
}

// isIntentplaneKind is true for an object of a group of Intentplane.
func isIntentplaneKind(s *structpb.Struct) bool {
	group, _, _ := strings.Cut(s.GetFields()["apiVersion"].GetStringValue(), "/")
	return group == deploymentv1alpha1.GroupNamespaced || strings.HasSuffix(group, "."+deploymentv1alpha1.GroupNamespaced)
}

// decodeStruct decodes by JSON: the SDK's own objects hold every number as a float.
func decodeStruct(s *structpb.Struct, into any) error {
	b, err := protojson.Marshal(s)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func encodeReply(rsp *fnv1.RunFunctionResponse, out *reply) error {
	rsp.Requirements = newRequirements(out.needs)
	status, err := encodeStruct(desiredComposite(out))
	if err != nil {
		return errors.Wrap(err, "cannot encode the status")
	}
	if rsp.GetDesired() == nil {
		rsp.Desired = &fnv1.State{}
	}
	rsp.Desired.Composite = &fnv1.Resource{Resource: status, Ready: encodeReadiness(out.ready)}
	// The desired resources of earlier functions of the pipeline stay.
	if rsp.GetDesired().GetResources() == nil {
		rsp.Desired.Resources = map[string]*fnv1.Resource{}
	}
	for _, name := range slices.Sorted(maps.Keys(out.resources)) {
		r := out.resources[name]
		o, err := encodeStruct(r.Object.Object)
		if err != nil {
			return errors.Wrapf(err, "cannot encode composed resource %q", name)
		}
		// The readiness of the composite is set explicitly, and does not depend on this. Crossplane would create an event for each resource that is not
		// ready, in each call.
		rsp.Desired.Resources[name] = &fnv1.Resource{Resource: o, Ready: fnv1.Ready_READY_TRUE}
	}
	for _, c := range out.conditions {
		rsp.Conditions = append(rsp.Conditions, newCondition(c))
	}
	return nil
}

// versionToKeep returns the resourceVersion of the composite as Crossplane read it, or empty if a write over another version loses no data. That is the
// first answer: Crossplane itself changes the composite before it writes our status, when it records the composite's references, and the composite has no
// conditions yet that this write could revert. With the version the first answer would always be refused, and every object be requested again.
func versionToKeep(req *fnv1.RunFunctionRequest) string {
	composite := req.GetObserved().GetComposite().GetResource().GetFields()
	if isUnanswered(composite) {
		return ""
	}
	return composite["metadata"].GetStructValue().GetFields()["resourceVersion"].GetStringValue()
}

// isUnanswered is true for a composite that refers to nothing yet, and has no condition Ready.
func isUnanswered(composite map[string]*structpb.Value) bool {
	spec := composite["spec"].GetStructValue().GetFields()
	refs := []*structpb.Value{spec["resourceRefs"], spec["crossplane"].GetStructValue().GetFields()["resourceRefs"]}
	if slices.ContainsFunc(refs, func(v *structpb.Value) bool { return len(v.GetListValue().GetValues()) > 0 }) {
		return false
	}
	conditions := composite["status"].GetStructValue().GetFields()["conditions"].GetListValue().GetValues()
	return !slices.ContainsFunc(conditions, func(v *structpb.Value) bool {
		return v.GetStructValue().GetFields()["type"].GetStringValue() == typeReady
	})
}

// desiredComposite returns the composite that Crossplane applies. It names the version that the reply was computed from.
//
// Crossplane reads the composite from a cache, and applies the conditions that it read together with our status, by force. Right after it
// wrote other conditions, the cache is one version behind: it would take those conditions back for a moment, and every client that waits for
// one of them would see it turn twice. With the version the API server refuses that write (a conflict), and Crossplane calls again.
func desiredComposite(out *reply) map[string]any {
	composite := map[string]any{"status": out.status}
	if out.resourceVersion != "" {
		composite["metadata"] = map[string]any{"resourceVersion": out.resourceVersion}
	}
	return composite
}

func newRequirements(needs []catalog.Need) *fnv1.Requirements {
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

func newCondition(c projection.Condition) *fnv1.Condition {
	return &fnv1.Condition{
		Type: c.Type, Status: statusOfCondition(c.Status), Reason: c.Reason, Message: &c.Message,
		Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	}
}

func statusOfCondition(s corev1.ConditionStatus) fnv1.Status {
	return map[corev1.ConditionStatus]fnv1.Status{
		corev1.ConditionTrue:    fnv1.Status_STATUS_CONDITION_TRUE,
		corev1.ConditionFalse:   fnv1.Status_STATUS_CONDITION_FALSE,
		corev1.ConditionUnknown: fnv1.Status_STATUS_CONDITION_UNKNOWN,
	}[s]
}

func encodeReadiness(isReady bool) fnv1.Ready {
	if isReady {
		return fnv1.Ready_READY_TRUE
	}
	return fnv1.Ready_READY_FALSE
}

func encodeStruct(v any) (*structpb.Struct, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	s := &structpb.Struct{}
	return s, protojson.Unmarshal(b, s)
}
