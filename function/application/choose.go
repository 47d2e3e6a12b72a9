package application

import (
	"strings"

	"k8s.io/utils/ptr"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

// inForce is the desired image of a deployment, and the inputs of its build.
type inForce struct {
	// image is the desired image. Empty if there is none.
	image string

	// request, commit and build that made the image. Empty for an image that the spec named.
	request, commit, build string

	// id identifies the inputs of the image. Empty for an image that the spec named.
	id string
}

func (d *observedDeployment) image() string {
	if d == nil || d.Spec.Expectation == nil {
		return ""
	}
	return d.Spec.Expectation.Image
}

// inForce returns the desired image of the deployment. The annotations are ours: they have the inputs of its build.
func (d *observedDeployment) inForce() inForce {
	if d.image() == "" {
		return inForce{}
	}
	annotations := d.Metadata.Annotations
	out := inForce{image: d.image(), request: annotations[buildv1alpha1.AnnotationRequest], commit: annotations[buildv1alpha1.AnnotationCommit], build: annotations[buildv1alpha1.AnnotationBuild]}
	if out.request != "" {
		out.id = imageID(out.request, out.commit)
	}
	return out
}

// mayDeliverRebuilt reports whether an image may be delivered that was built again of the same source.
func mayDeliverRebuilt(build *v1alpha1.Build, image string) bool {
	switch {
	case build == nil || build.Updates == v1alpha1.UpdatesAutomatic:
		return true
	case build.Updates == v1alpha1.UpdatesManual:
		return build.Approved != "" && strings.HasSuffix(image, "@"+build.Approved)
	}
	return false
}

// chooseDeployment returns the desired IntentDeployment, or nil without an image. The image in force stays until the wanted image exists. If only the
// branch moved, all else of an edit goes out with the image in force; if the build request was edited, the rest of the edit waits for that build, since it
// belongs to the source that reads it. An edit never delivers a rejected image again while the next image is built.
func (f *Facts) chooseDeployment(in Input, o observed, request string) *Composed {
	if !in.Spec.IsBuilt() {
		return DeploymentFor(in.Namespace, in.Name, in.Spec)
	}
	current, image := o.deployment.inForce(), f.Build.WantedImage()
	switch {
	case image != "":
		next := inForce{image: image, request: request, commit: f.Build.Commit, build: f.Build.Name}
		if current.image == image && current.id == f.Build.Wanted {
			next = current
		}
		f.Commit = next.commit
		return builtDeployment(in, next)
	case current.image == "":
		return nil
	case current.request == request && !o.deployment.isRejected():
		f.Commit = current.commit
		return builtDeployment(in, current)
	}
	f.Commit = current.commit
	return heldDeployment(in, o.deployment)
}

// builtDeployment returns the IntentDeployment of an image that was built. The inputs of the build count in no digest.
func builtDeployment(in Input, source inForce) *Composed {
	in.Spec.Image = source.image
	d := DeploymentFor(in.Namespace, in.Name, in.Spec)
	d.Annotations = map[string]string{
		buildv1alpha1.AnnotationRequest: source.request, buildv1alpha1.AnnotationCommit: source.commit, buildv1alpha1.AnnotationBuild: source.build,
	}
	return d
}

// mayHoldBack reports whether a deployment is suspended, and may hold back its current spec: its status does not deny it for that spec.
func (d *observedDeployment) mayHoldBack() bool {
	if !ptr.Deref(d.Spec.Suspend, false) {
		return false
	}
	sum, err := digest.Spec(&d.Spec)
	return err != nil || d.Status.IntentDigest != sum || d.Status.HeldBack
}

// heldDeployment returns the IntentDeployment as it is, with the policy of an edit, which belongs to no image. Changed rules of measurements make a revision
// of the image in force. That delivers the image again, so the rules of a rejected image, or of a failed deployment, wait for the next image. A deployment that
// holds an earlier edit back stays suspended: the current spec does not request that edit.
func heldDeployment(in Input, current *observedDeployment) *Composed {
	d := DeploymentFor(in.Namespace, in.Name, in.Spec)
	next := d.Spec
	d.Spec = *current.Spec.DeepCopy()
	passPolicy(&d.Spec, next)
	if current.mayHoldBack() {
		d.Spec.Suspend = new(true)
	}
	if !current.isRejected() && current.Status.Outcome != deploymentv1alpha1.OutcomeFailed {
		passRules(&d.Spec.GatesConfig, next.GatesConfig)
	}
	for _, key := range []string{buildv1alpha1.AnnotationRequest, buildv1alpha1.AnnotationCommit, buildv1alpha1.AnnotationBuild} {
		if v, ok := current.Metadata.Annotations[key]; ok {
			if d.Annotations == nil {
				d.Annotations = map[string]string{}
			}
			d.Annotations[key] = v
		}
	}
	return d
}
