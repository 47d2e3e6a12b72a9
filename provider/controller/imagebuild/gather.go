package imagebuild

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/kpack"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/sources"
)

// gatherFacts gathers the facts about an ImageBuild. It returns an error if the control plane's API server cannot be asked.
func (e *external) gatherFacts(ctx context.Context, b *v1alpha1.ImageBuild) (*facts, error) {
	f := &facts{spec: *b.Spec.ForProvider.DeepCopy(), now: e.now(), last: b.Status.AtProvider, lookNow: requestedLook(b), hasKpack: e.hasKpack.Load(), refusal: e.note.refusal, asked: e.note.asking}
	if e.note.heldWanted != nil {
		f.last.Wanted = *e.note.heldWanted
	}
	f.spec.Default()
	var err error
	if f.request, err = digest.BuildRequest(&f.spec); err != nil {
		return f, err
	}
	if f.source, err = digest.BuildSource(&f.spec.Source); err != nil {
		return f, err
	}
	owner := metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: Kind().Kind, Name: b.GetName(), UID: b.GetUID(), Controller: new(true),
	}
	f.plan = kpack.Plan{Namespace: b.GetNamespace(), Name: b.GetName(), Owner: owner}
	if err := e.readBuildConfig(ctx, b, f); err != nil || f.refused != nil {
		return f, err
	}
	if err := e.lookAtSource(ctx, b, f); err != nil || !f.hasKpack {
		return f, err
	}
	return f, e.gatherKpackFacts(ctx, f)
}

// requestedLook returns for which look a user asks: on the ImageBuild, or on the Application, whose request to reconcile the function passes on.
func requestedLook(b *v1alpha1.ImageBuild) string {
	annotations := b.GetAnnotations()
	return oneline.Cut(strings.TrimSpace(annotations[v1alpha1.AnnotationLookNow]+" "+annotations[xpmeta.AnnotationKeyReconcileRequestedAt]), 256)
}

// lookAtSource finds the commit of the revision. An archive has none.
func (e *external) lookAtSource(ctx context.Context, b *v1alpha1.ImageBuild, f *facts) error {
	git := f.spec.Source.Git
	if git == nil {
		return nil
	}
	server, err := e.sourceServer(ctx, b.GetNamespace(), git)
	if f.secretProblem = credentialsProblem(err); err != nil {
		if f.secretProblem != nil {
			return nil
		}
		return err
	}
	interval, err := time.ParseDuration(f.spec.Source.Interval)
	if err != nil {
		return errors.Wrap(err, "source.interval")
	}
	notBefore := e.note.pendingLookSince(f.lookNow, f.last.LookNow, f.now)
	if hooked := e.hooks.pendingHookSince(client.ObjectKeyFromObject(b), b.GetAnnotations()[v1alpha1.AnnotationHookedAt], f.now); hooked.After(notBefore) {
		notBefore = hooked
	}
	found, err := e.sources.Find(ctx, sources.Request{
		For: client.ObjectKeyFromObject(b), Server: server, Revision: git.Revision, Interval: interval, Since: notBefore, IsNew: f.isNewSource(),
	})
	if err != nil {
		return errors.Wrap(err, "cannot look at the repository")
	}
	f.recordLookResult(found, notBefore, interval)
	if f.isLookDone {
		e.hooks.dropAnsweredHooks(client.ObjectKeyFromObject(b), notBefore)
	}
	return nil
}

// recordLookResult records the result of a look, where notBefore is the time of the last request for one, and computes when the next look is due.
func (f *facts) recordLookResult(found sources.Answer, notBefore time.Time, interval time.Duration) {
	if found.Err != nil {
		interval = min(interval, sources.FailedAge)
	}
	f.found, f.isLookDone = &found, found.IsSince(notBefore)
	switch {
	case found.At.IsZero():
	case f.isLookDone:
		f.lookDue = found.At.Add(interval)
	default:
		f.lookDue = found.At.Add(sources.Spacing)
	}
}

// isNewSource reports whether no commit of the source was found before.
func (f *facts) isNewSource() bool {
	return f.last.Wanted.Source != f.source || f.last.Wanted.Commit == ""
}

// gatherKpackFacts reads the Image, the Build that it names last and, where that failed, its builder and, where it says too little, its pod.
func (e *external) gatherKpackFacts(ctx context.Context, f *facts) error {
	var err error
	if f.image, err = e.readKpackImage(ctx, client.ObjectKey{Namespace: f.plan.Namespace, Name: f.plan.Name}); err != nil || f.image == nil {
		return err
	}
	if err := e.readLatestBuild(ctx, f); err != nil || f.build == nil {
		return err
	}
	if err := e.readBuilder(ctx, f); err != nil {
		return err
	}
	if f.needsBuildPod() {
		f.pod, err = e.readBuildPod(ctx, client.ObjectKey{Namespace: f.plan.Namespace, Name: kpack.PodOf(f.build)})
	}
	return err
}

// readLatestBuild reads the Build that the Image names last. A Build that kpack did not make for just this Image proves nothing: kpack goes by
// labels, which a user may write, and uses the names of Builds again.
func (e *external) readLatestBuild(ctx context.Context, f *facts) error {
	name := kpack.LatestBuildOf(f.image)
	if name == "" {
		return e.readRunningBuild(ctx, f)
	}
	b, err := readKpackObject(ctx, e.cache, kpack.BuildKind(), client.ObjectKey{Namespace: f.plan.Namespace, Name: name})
	switch {
	case err != nil:
		return err
	case b != nil && !kpack.IsBuildOf(b, f.image):
		f.otherBuild = name
		return nil
	}
	f.build = b
	return e.readRunningBuild(ctx, f)
}

// runningIndex finds running Builds by the UIDs of their Images. A namespace has up to twenty Builds for each of its Images, and events of all of them.
func runningIndex() listing.Index {
	return listing.NewIndex(kpack.NewObject(kpack.BuildKind()), "intentplane.imagebuild.running", func(build *unstructured.Unstructured) []string {
		owner := metav1.GetControllerOfNoCopy(build)
		if owner == nil || !kpack.EndOf(build).IsZero() {
			return nil
		}
		return []string{string(owner.UID)}
	})
}

// readRunningBuild finds the Build that runs, where the Image says that one does and does not name it.
func (e *external) readRunningBuild(ctx context.Context, f *facts) error {
	if !kpack.NamesNoRunning(f.image, f.build) {
		return nil
	}
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(kpack.BuildKind())
	if err := runningIndex().List(ctx, e.cache, l, string(f.image.GetUID()), client.InNamespace(f.plan.Namespace)); err != nil {
		return errors.Wrap(err, "cannot list Builds of kpack")
	}
	f.build = cmp.Or(kpack.NewestRunning(f.image, l.Items), f.build)
	return nil
}

// readKpackImage returns the Image of a name. The cache has only Images of ImageBuilds: the API server says whether a name is free.
func (e *external) readKpackImage(ctx context.Context, key client.ObjectKey) (*unstructured.Unstructured, error) {
	if u, err := readKpackObject(ctx, e.cache, kpack.ImageKind(), key); err != nil || u != nil {
		return u, err
	}
	return readKpackObject(ctx, e.live, kpack.ImageKind(), key)
}

func readKpackObject(ctx context.Context, r client.Reader, kind schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	u := kpack.NewObject(kind)
	err := r.Get(ctx, key, u)
	if kerrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil //nolint:nilnil // There is none.
	}
	return u, errors.Wrapf(err, "cannot get %s %q of kpack", kind.Kind, key.Name)
}

// needsBuildPod reports whether the Build does not say enough: it failed, and that was not noted yet, or no step has begun for long.
func (f *facts) needsBuildPod() bool {
	if f.build == nil || kpack.PodOf(f.build) == "" {
		return false
	}
	if kpack.EndOf(f.build).IsZero() {
		return !kpack.HasBegun(f.build) && f.now.Sub(f.build.GetCreationTimestamp().Time) >= podDelay
	}
	return f.hasFailedBuild() && !f.isNotedFailure()
}

// readBuildPod returns a pod, or nil if it is gone.
func (e *external) readBuildPod(ctx context.Context, key client.ObjectKey) (*corev1.Pod, error) {
	p := &corev1.Pod{}
	err := e.live.Get(ctx, key, p)
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // There is none.
	}
	return p, errors.Wrapf(err, "cannot get pod %q", key.Name)
}
