package application

import (
	"k8s.io/utils/ptr"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

func (d *observedDeployment) desiredImage() string {
	if d == nil || d.Spec.Expectation == nil {
		return ""
	}
	return d.Spec.Expectation.Image
}

// chooseDeployment returns the desired IntentDeployment, or nil without an image. The image in force stays until the wanted image exists. If only the
// branch moved, all else of an edit goes out with the image in force; if the build request was edited, the rest of the edit waits for that build, since it
// belongs to the source that reads it. An edit never delivers a rejected image again while the next image is built.
func (f *Facts) chooseDeployment(in Input, o observed, request string) *Composed {
	if !in.Spec.IsBuilt() {
		f.InForce = v1alpha1.BuiltImage{}
		return DeploymentFor(in.Namespace, in.Name, in.Spec)
	}
	image := f.Build.WantedImage()
	if image != "" && (f.InForce.Image != image || imageInputsID(f.InForce.Request, f.InForce.Commit) != f.Build.Wanted) {
		f.InForce = v1alpha1.BuiltImage{Image: image, Request: request, Commit: f.Build.Commit, Build: f.Build.Name}
	}
	f.Commit = f.InForce.Commit
	switch {
	case image != "", f.InForce.Request == request && !o.deployment.isRevisionRejected():
		return builtDeployment(in, f.InForce)
	case o.deployment.desiredImage() == "":
		return nil
	}
	return heldDeployment(in, o.deployment, f.InForce)
}

// builtDeployment returns the IntentDeployment of an image that was built. The inputs of the build count in no digest.
func builtDeployment(in Input, built v1alpha1.BuiltImage) *Composed {
	in.Spec.Image = built.Image
	d := DeploymentFor(in.Namespace, in.Name, in.Spec)
	d.Annotations = annotationsFor(built)
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

// heldDeployment returns the IntentDeployment as it is, with the recorded image, and with the policy of an edit, which belongs to no image. Changed rules of
// measurements make a revision of the image in force. That delivers the image again, so the rules of a rejected image, or of a failed deployment, wait for the
// next image. A deployment that holds an earlier edit back stays suspended: the current spec does not request that edit.
func heldDeployment(in Input, current *observedDeployment, recorded v1alpha1.BuiltImage) *Composed {
	d := DeploymentFor(in.Namespace, in.Name, in.Spec)
	next := d.Spec
	d.Spec = *current.Spec.DeepCopy()
	passEditedPolicy(&d.Spec, next)
	if current.mayHoldBack() {
		d.Spec.Suspend = new(true)
	}
	if !current.isRevisionRejected() && current.Status.Outcome != deploymentv1alpha1.OutcomeFailed {
		passEditedRules(&d.Spec.GatesConfig, next.GatesConfig)
	}
	if recorded.Image == "" {
		recorded = current.annotatedBuild()
	}
	d.Spec.Expectation.Image = recorded.Image
	if recorded.Request != "" {
		d.Annotations = annotationsFor(recorded)
	}
	return d
}
