package crowds

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	function "github.com/crossplane/function-sdk-go"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
)

// The shapes of the baseline: the cost of a composite without any part of ours. It has three fields, and composes one ConfigMap, which
// another program changes as often as the provider changes a GitDelivery.
var (
	namespacedBaseline = shape{name: "baseline-namespaced", apiVersion: "bench.intentplane.dev/v1alpha1", kind: "Baseline", composite: "baselines"}
	claimBaseline      = shape{name: "baseline-claims", apiVersion: "claims.bench.intentplane.dev/v1alpha1", kind: "Baseline", composite: "xbaselines"}
)

// lastStep is the last step of a baseline: created, observed, applied, recorded. From askingStep on the function requests the last step.
const (
	askingStep = "2"
	lastStep   = "3"
)

const baselineObjects = `
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: baselines.bench.intentplane.dev}
spec:
  scope: Namespaced
  group: bench.intentplane.dev
  names: {kind: Baseline, plural: baselines}
  versions: [{name: v1alpha1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {
    spec: {type: object, properties: {name: {type: string}, size: {type: integer}}},
    status: {type: object, properties: {phase: {type: string}}}}}}}]
---
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xbaselines.claims.bench.intentplane.dev}
spec:
  group: claims.bench.intentplane.dev
  names: {kind: XBaseline, plural: xbaselines}
  claimNames: {kind: Baseline, plural: baselines}
  versions: [{name: v1alpha1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {
    spec: {type: object, properties: {name: {type: string}, size: {type: integer}}},
    status: {type: object, properties: {phase: {type: string}}}}}}}]
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: baseline-namespaced}
spec:
  compositeTypeRef: {apiVersion: bench.intentplane.dev/v1alpha1, kind: Baseline}
  mode: Pipeline
  pipeline: [{step: baseline, functionRef: {name: function-baseline}}]
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: baseline-claims}
spec:
  compositeTypeRef: {apiVersion: claims.bench.intentplane.dev/v1alpha1, kind: XBaseline}
  mode: Pipeline
  pipeline: [{step: baseline, functionRef: {name: function-baseline}}]
---
apiVersion: pkg.crossplane.io/v1
kind: FunctionRevision
metadata:
  name: function-baseline
  labels: {pkg.crossplane.io/package: function-baseline}
  annotations: {crossplane.io/paused: "true", %s: "%d"}
spec: {desiredState: Active, image: example.org/function-baseline, revision: 1}
`

// labelBaseline is on the ConfigMap of each baseline.
const labelBaseline = "bench.intentplane.dev/baseline"

// A baselineFunction composes one ConfigMap, and shows its step.
type baselineFunction struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

// RunFunction answers. It returns an error for a composite that it cannot read.
func (baselineFunction) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	composite := req.GetObserved().GetComposite().GetResource()
	step := textOfField(req.GetObserved().GetResources()["one"].GetResource(), "data", "step")
	namespace := textOfField(composite, "metadata", "namespace")
	if namespace == "" {
		namespace = textOfField(composite, "spec", "claimRef", "namespace")
	}
	action := "apply"
	if step >= askingStep {
		action = "record"
	}
	configMap, err := structpb.NewStruct(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"asked": action},
		"metadata": map[string]any{"namespace": namespace, "labels": map[string]any{labelBaseline: "true"}},
	})
	if err != nil {
		return nil, err
	}
	phase := "Running"
	if step == lastStep {
		phase = "Succeeded"
	}
	status, err := structpb.NewStruct(map[string]any{"status": map[string]any{"phase": phase}})
	rsp := response.To(req, response.DefaultTTL)
	rsp.Desired = &fnv1.State{
		Composite: &fnv1.Resource{Resource: status, Ready: readiness(step == lastStep)},
		Resources: map[string]*fnv1.Resource{"one": {Resource: configMap, Ready: fnv1.Ready_READY_TRUE}},
	}
	return rsp, err
}

func readiness(isReady bool) fnv1.Ready {
	if isReady {
		return fnv1.Ready_READY_TRUE
	}
	return fnv1.Ready_READY_FALSE
}

// textOfField returns the text of a field of an object, or empty.
func textOfField(o *structpb.Struct, path ...string) string {
	v := structpb.NewStructValue(o)
	for _, name := range path {
		v = v.GetStructValue().GetFields()[name]
	}
	return v.GetStringValue()
}

// openBaseline serves the function of the baseline, and makes its definitions and compositions, once for each control plane.
func (s *room) openBaseline(ctx context.Context) error {
	if s.baselineOn == s.CP {
		return nil
	}
	port, err := s.serveBaseline(ctx)
	if err != nil {
		return err
	}
	if err := s.CP.ApplyYAML(ctx, fmt.Appendf(nil, baselineObjects, controlplane.AnnotationEndpoint, port)); err != nil {
		return err
	}
	rev := &pkgv1.FunctionRevision{}
	if err := s.CP.Client.Get(ctx, types.NamespacedName{Name: "function-baseline"}, rev); err != nil {
		return errors.Wrap(err, "cannot get the revision of the baseline's function")
	}
	if err := s.CP.Client.Status().Patch(ctx, rev, client.RawPatch(types.MergePatchType, []byte(`{"status":{"capabilities":["composition"]}}`))); err != nil {
		return errors.Wrap(err, "cannot name the capabilities of the baseline's function")
	}
	if err := s.awaitBaselineKinds(ctx); err != nil {
		return err
	}
	s.baselineOn = s.CP
	go s.playBaselines(context.WithoutCancel(ctx), s.CP) // It ends with the control plane.
	return nil
}

// awaitBaselineKinds waits until the API server serves both shapes of the baseline, of which Crossplane makes definitions.
func (s *room) awaitBaselineKinds(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience.Limit)
	defer cancel()
	for _, baseline := range []shape{namespacedBaseline, claimBaseline} {
		for s.listBaselines(ctx, baseline) != nil {
			if err := process.Wait(ctx, time.Second); err != nil {
				return errors.Wrapf(s.listBaselines(context.WithoutCancel(ctx), baseline), "cannot see %s served", baseline.kind)
			}
		}
	}
	return nil
}

func (s *room) listBaselines(ctx context.Context, form shape) error {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(form.apiVersion)
	l.SetKind(form.kind + "List")
	return s.CP.Client.List(ctx, l, client.InNamespace(namespace))
}

// serveBaseline serves the function, until this program ends, and returns its port.
func (s *room) serveBaseline(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, errors.Wrap(err, "cannot find a port for the baseline's function")
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, err
	}
	go func() {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		_ = function.Serve(baselineFunction{}, function.Listen("tcp", address), function.MTLSCertificates(s.CP.ServingCertificates()), function.WithMetricsServer(""))
	}()
	return port, nil
}

// playBaselines changes each ConfigMap of a baseline as often as the provider changes a GitDelivery, until the control plane ends. The API server ends a
// watch that cannot follow.
func (s *room) playBaselines(ctx context.Context, cp *controlplane.ControlPlane) {
	for cp.Err() == nil && s.watchBaselines(ctx, cp) == nil {
		_ = process.Wait(ctx, time.Second)
	}
}

// watchBaselines takes the next step of each ConfigMap that changes, until the watch ends. It returns an error if there is nothing to watch.
func (s *room) watchBaselines(ctx context.Context, cp *controlplane.ControlPlane) error {
	w, err := cp.Client.Watch(ctx, &corev1.ConfigMapList{}, client.HasLabels{labelBaseline})
	if err != nil {
		return errors.Wrap(err, "cannot watch baselines")
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if m, ok := e.Object.(*corev1.ConfigMap); ok {
			_ = s.performNextStep(ctx, cp, m) // Its next change is another chance.
		}
	}
	return nil
}

// performNextStep performs the next step of a ConfigMap. It performs the last step once it is requested.
func (s *room) performNextStep(ctx context.Context, cp *controlplane.ControlPlane, m *corev1.ConfigMap) error {
	next := map[string]string{"": "1", "1": askingStep, askingStep: lastStep}[m.Data["step"]]
	if next == "" || next == lastStep && m.Data["asked"] != "record" {
		return nil
	}
	return cp.Client.Patch(ctx, m, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{"step":%q}}`, next)))
}

// newBaseline returns a baseline of a shape.
func newBaseline(form shape, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"name": name, "size": int64(2)}}}
	o.SetAPIVersion(form.apiVersion)
	o.SetKind(form.kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}
