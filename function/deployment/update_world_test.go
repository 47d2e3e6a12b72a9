package deployment

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/render"
)

// newer renders as a renderer of another version would: each file has one line more.
type newer struct {
	compile.Renderer

	line string
}

// Build adds the line.
func (n newer) Build(ctx context.Context, in render.Input) (tree.Files, error) {
	files, err := n.Renderer.Build(ctx, in)
	out := tree.Files{}
	for name, content := range files {
		out[name] = append(slices.Clone(content), n.line...)
	}
	return out, err
}

// upgrade replaces the function by the next version, which adds a line to each file.
func (w *world) upgrade(line string, opts ...Option) {
	version := w.core.version + 1
	w.core = New(newer{Renderer: render.NewRenderer(), line: line}, opts...)
	w.core.version = version
}

// release puts another version of the Blueprint into the channel. Its Deployments have an annotation more.
func (w *world) release(version string) {
	w.t.Helper()
	old := w.object("Blueprint", w.newest())
	b := old.DeepCopy()
	b.SetName("web-" + version)
	labels := old.GetLabels()
	delete(labels, "channel")
	old.SetLabels(labels)
	w.objects = append(w.objects, b)
	w.set("Blueprint", b.GetName(), version, "spec", "version")
	files, _, _ := unstructured.NestedStringMap(b.Object, "spec", "files")
	for name, content := range files {
		files[name] = strings.ReplaceAll(content, "kind: Deployment\nmetadata:\n", "kind: Deployment\nmetadata:\n  annotations: {version: \""+version+"\"}\n")
	}
	all := map[string]any{}
	for name, content := range files {
		all[name] = content
	}
	w.set("Blueprint", b.GetName(), all, "spec", "files")
}

// newest is the name of the Blueprint in the channel.
func (w *world) newest() string {
	for _, o := range w.objects {
		if o.GetKind() == "Blueprint" && o.GetLabels()["channel"] == "stable" {
			return o.GetName()
		}
	}
	return ""
}

// ask makes a RolloutRequest, as the provider labels it.
func (w *world) ask(name string, revision int64, change ...func(*rolloutv1alpha1.RolloutRequest)) {
	w.t.Helper()
	r := &rolloutv1alpha1.RolloutRequest{
		TypeMeta: metav1.TypeMeta{APIVersion: rolloutv1alpha1.GroupVersion.String(), Kind: "RolloutRequest"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.in.Claim.Namespace, Name: name, UID: "uid-of-request",
			Labels: rolloutv1alpha1.OpenLabels(w.in.Claim.APIGroup, w.in.Claim.Name),
		},
		Spec: rolloutv1alpha1.RolloutRequestSpec{
			DeploymentRef: rolloutv1alpha1.DeploymentReference{APIGroup: w.in.Claim.APIGroup, Kind: w.in.Claim.Kind, Name: w.in.Claim.Name},
			Action:        rolloutv1alpha1.ActionApproveUpdate, Revision: revision, RequestedBy: "ann",
		},
	}
	for _, c := range change {
		c(r)
	}
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.objects = append(w.objects, &unstructured.Unstructured{Object: o})
}

func (w *world) manual() {
	w.in.Spec.Blueprint.UpdatePolicy = deploymentv1alpha1.UpdateManual
}

// updated has the values that a scenario about updates compares.
type updated struct {
	Revision  int64
	Ready     bool
	Blueprint string
	Update    deploymentv1alpha1.UpdateStatus
	Results   string
	// Lines is the last line of each Deployment that is asked for.
	Lines string
}

func (w *world) updated(out *Output) updated {
	w.t.Helper()
	u := updated{Revision: out.Status.Revision, Ready: out.Ready, Blueprint: out.Status.Blueprint.Name, Update: out.Status.Update}
	for _, r := range out.Status.Requests {
		u.Results = strings.TrimSpace(u.Results + " " + r.Name + "=" + r.Result)
	}
	lines := map[string]bool{}
	for _, d := range w.deliveries(out) {
		for _, t := range d.Spec.ForProvider.Trees {
			lines[w.version(t)] = true
		}
	}
	u.Lines = strings.Join(slices.Sorted(maps.Keys(lines)), " ")
	return u
}

// version says by which Blueprint, and which function, a tree was made.
func (w *world) version(t deliveryv1alpha1.Tree) string {
	w.t.Helper()
	if t.Action != deliveryv1alpha1.ActionDesired {
		return string(t.Action)
	}
	files, err := tree.Decode(t.Files)
	if err != nil {
		w.t.Fatal(err)
	}
	blueprintVersion := "1.0.0"
	text := string(files["deployment-shop.yaml"])
	if _, after, ok := strings.Cut(text, "version: "); ok {
		blueprintVersion, _, _ = strings.Cut(after, "\n")
	}
	if strings.HasSuffix(text, "# new\n") {
		blueprintVersion += "/new"
	}
	return blueprintVersion
}

func (w *world) wantUpdated(reason string, out *Output, want updated) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.updated(out)); diff != "" {
		w.t.Fatalf("\n%s\nRun(...): -want, +got:\n%s\n%s", reason, diff, out.Status.Message)
	}
}

// forget empties the status of the deliveries.
func (w *world) forget() {
	for _, o := range w.in.Observed {
		delete(o.Object, "status")
	}
}
