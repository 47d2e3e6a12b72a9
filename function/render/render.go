// Package render compiles an intent for one Site with a Blueprint, by kustomize, in memory. It is pure: no input makes it read a disk, a
// network or a clock.
//
// A Blueprint is an ordinary kustomization that its author can build with the kustomize command. It lists intent.yaml among its
// resources: a ConfigMap named intent whose data replacements read. The Blueprint's own intent.yaml holds the defaults, and the values of
// the claim are written over them:
//
//	service, type, site, namespace, claim, replicas   always
//	image, cpu, memory                                when the intent says so
//	param-<name>                                      for each parameter, also for defaults of the parametersSchema
//	site-<name>                                       for each parameter of the Site
//
// Without any replacements, a container whose image is named intent runs the intent's image, and a workload that is marked with LabelWorkload
// has the intent's replicas and resources. That comes last, when the Blueprint is built, and from the same values. The intent's settings of
// containers and pods are written to marked workloads after that: they have lists, whose order kustomize does not keep.
package render

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render/guard"
)

// Version of the rules in this package: it rises when the same input gives other bytes.
const Version int32 = 5

// AnnotationVersion is the annotation of the function's package with the Version of its code. Crossplane copies the annotations of a package to its revision.
const AnnotationVersion = "render.intentplane.dev/version"

// A Claim is the claim that objects are rendered for.
type Claim struct {
	// APIGroup of the claim.
	APIGroup string

	// Namespace of the claim. Objects that name none go to the namespace of this name.
	Namespace string

	// Name of the claim.
	Name string
}

// A Site is the Site that objects are rendered for.
type Site struct {
	// Name of the Site.
	Name string

	// Parameters of the Site.
	Parameters map[string]string

	// Engine of the Site. Empty means that it is unknown.
	Engine catalogv1alpha1.EngineType

	// Expansion says whether the engine of the Site may replace ${NAME} in rendered objects.
	Expansion expansion.Mode

	// Layout of the directory. Empty means LayoutKustomization.
	Layout catalogv1alpha1.Layout
}

// Input is everything that a rendering depends on.
type Input struct {
	Blueprint *catalogv1alpha1.Blueprint
	Intent    intent.Intent
	Site      Site
	Claim     Claim

	// Track is the track that the workload is rendered in. It is empty for a Blueprint without spec.canary, and track.Plain for such a Blueprint
	// beside another track.
	Track string
}

func (in Input) blueprintName() string {
	if in.Blueprint == nil {
		return ""
	}
	return in.Blueprint.GetName()
}

// maxConcurrentBuilds is the greatest number of concurrent Builds. A Build whose caller gave up holds its slot until it ends.
const maxConcurrentBuilds = 4

// A Renderer renders. There should be one in a process. kustomize keeps the OpenAPI schemas that it works with in global variables;
// a Blueprint may not change them, so that Builds may run beside each other.
type Renderer struct {
	slots chan struct{}
}

// NewRenderer returns a Renderer. It loads the schemas of Kubernetes' own kinds, which kustomize would otherwise do the first time
// that it needs them, while others read them.
func NewRenderer() *Renderer {
	openapi.Schema()
	return &Renderer{slots: make(chan struct{}, maxConcurrentBuilds)}
}

// Build returns the files of one Site's directory: one for each object and, unless the Site's layout is LayoutManifests, a kustomization.yaml that lists
// them. In a track they are in the folder of the track and the folder of the shared objects. The same input gives the same bytes. It returns an error that
// names the Blueprint, and the file or the object if known, for parameters that the Blueprint does not take, for a Blueprint that reaches outside of itself
// or does not build, and for objects that cannot be delivered. When the context ends first it returns a TimeoutError; a build in kustomize cannot be
// interrupted and goes on.
func (r *Renderer) Build(ctx context.Context, in Input) (tree.Files, error) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, queueTimeoutError(ctx, in)
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-r.slots }()
		files, err := buildDirectory(in)
		done <- result{files: files, err: err}
	}()
	select {
	case got := <-done:
		return got.files, errors.Wrapf(got.err, "cannot render Blueprint %q", in.blueprintName())
	case <-ctx.Done():
		return nil, renderTimeoutError(ctx, in)
	}
}

// TimeoutError says that the time for a rendering was over before its end. It may succeed another time.
type TimeoutError struct{ message string }

// Error names the Blueprint.
func (e *TimeoutError) Error() string { return e.message }

func renderTimeoutError(ctx context.Context, in Input) error {
	return timeoutError(ctx, in, "cannot render Blueprint %q within spec.compileConfig.renderTimeout: raise it, to 60s at most, or make the Blueprint smaller")
}

// queueTimeoutError is for a rendering that did not begin before the deadline, since others ran. Waiting counts towards the same deadline, because
// the caller has to be answered in time. The message does not blame the Blueprint.
func queueTimeoutError(ctx context.Context, in Input) error {
	return timeoutError(ctx, in, "cannot render Blueprint %q: other renderings took all the time that spec.compileConfig.renderTimeout gives: raise it, to 60s at most, or wait until they are done")
}

func timeoutError(ctx context.Context, in Input, message string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		message = "cannot render Blueprint %q: the call was cancelled"
	}
	return &TimeoutError{message: fmt.Sprintf(message, in.blueprintName())}
}

// buildDirectory turns panics into errors: a Blueprint may make kustomize, or a library below it, panic.
func buildDirectory(in Input) (files tree.Files, err error) { //nolint:nonamedreturns // A recovered panic is returned.
	defer func() {
		if p := recover(); p != nil {
			files, err = nil, errors.Errorf("kustomize panicked: %.256v", p)
		}
	}()
	if err := checkInputTrack(in); err != nil {
		return nil, err
	}
	files, data, err := layoutFiles(in)
	if err != nil {
		return nil, err
	}
	objects, err := runKustomize(files)
	if err != nil {
		return nil, err
	}
	if err := applyRuntime(objects, in.Intent.Runtime); err != nil {
		return nil, err
	}
	if err := setSubjectNamespaces(objects, in.Claim.Namespace); err != nil {
		return nil, err
	}
	switch in.Track {
	case "":
		return writeObjects(in, objects, data["image"], in.Site.Layout)
	case track.Plain:
		files, err = writeObjects(in, objects, data["image"], in.Site.Layout)
		if err != nil {
			return nil, err
		}
		return track.LabelPods(files)
	}
	files, err = writeObjects(in, objects, data["image"], catalogv1alpha1.LayoutManifests)
	if err != nil {
		return nil, err
	}
	return placeInTrack(in, files)
}

// runKustomize builds the kustomization at the root of the files. It starts no plugin and loads no file from outside of its root.
func runKustomize(files tree.Files) (resmap.ResMap, error) {
	fs := filesys.MakeFsInMemory()
	for _, name := range files.Names() {
		if err := fs.WriteFile("/"+name, files[name]); err != nil {
			return nil, errors.Wrapf(err, "cannot write %s", name)
		}
	}
	objects, err := krusty.MakeKustomizer(&krusty.Options{
		Reorder:          krusty.ReorderOptionNone,
		LoadRestrictions: types.LoadRestrictionsRootOnly,
		PluginConfig:     types.DisabledPluginConfig(),
	}).Run(fs, "/")
	if err != nil {
		return nil, errors.Errorf("kustomize: %s", guard.ShortenMessage(strings.TrimPrefix(err.Error(), overlayErrorPrefix)))
	}
	return objects, nil
}

// overlayErrorPrefix is the part of kustomize's errors about our own kustomization, before the problem of the Blueprint.
const overlayErrorPrefix = "accumulating resources: accumulation err='accumulating resources from 'blueprint': '/blueprint' must resolve to a file': " +
	"recursed accumulation of path '/blueprint': "
