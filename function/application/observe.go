package application

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/desired"
)

// observed are the composed resources. Nil means that one does not exist.
type observed struct {
	deployment *observedDeployment
	build      *buildv1alpha1.ImageBuild
	health     *deliveryv1alpha1.SiteHealth
}

// An observedDeployment has the fields that are read from an IntentDeployment.
type observedDeployment struct {
	Metadata struct {
		Annotations       map[string]string `json:"annotations"`
		DeletionTimestamp *metav1.Time      `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec   deploymentv1alpha1.IntentDeploymentSpec `json:"spec"`
	Status struct {
		deploymentv1alpha1.IntentDeploymentStatus `json:",inline"`
		xpv2.ConditionedStatus                    `json:",inline"`
	} `json:"status"`
}

// observeResources reads the composed resources, and desires each as it is, so that a call which returns early removes nothing.
func observeResources(in Input, out *Output) (observed, error) {
	var failed [4]error
	o := observed{}
	out.Resources, failed[0] = desired.RetainAll(in.Observed)
	o.deployment, failed[1] = desired.Observe[observedDeployment](in.Observed, DeploymentName)
	o.build, failed[2] = desired.Observe[buildv1alpha1.ImageBuild](in.Observed, BuildName)
	o.health, failed[3] = desired.Observe[deliveryv1alpha1.SiteHealth](in.Observed, HealthName)
	return o, errors.Join(failed[:]...)
}

// deploymentEvidence returns the evidence about the IntentDeployment, where specDigest is the digest of the spec that it should have.
func (o observed) deploymentEvidence(name, specDigest string) Deployment {
	if o.deployment == nil {
		return Deployment{Name: name, Asked: specDigest}
	}
	s := o.deployment.Status
	d := ObserveDeployment(name, specDigest, s.IntentDeploymentStatus, s.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
	d.Stalled = s.GetCondition(deploymentv1alpha1.TypeStalled).Status == corev1.ConditionTrue
	return d
}

// typeResponsive is the condition of a composite that reports whether Crossplane reacts to its events. It is False while the circuit breaker is open.
const typeResponsive xpv2.ConditionType = "Responsive"

// isReconcileHalted reports whether Crossplane does not carry the spec of the deployment out: it is being deleted, or is paused, the function fails, or the circuit breaker
// of its events is open.
func (d *observedDeployment) isReconcileHalted() bool {
	if d == nil {
		return false
	}
	isFalse := func(t xpv2.ConditionType) bool { return d.Status.GetCondition(t).Status == corev1.ConditionFalse }
	return d.Metadata.DeletionTimestamp != nil || isFalse(xpv2.TypeSynced) || isFalse(typeResponsive)
}

// isRevisionRejected reports whether the revision of the deployment was rejected, also before its rollback ends. Outcome Failed alone says nothing about the image: a
// deployment whose spec cannot be compiled has it, too.
func (d *observedDeployment) isRevisionRejected() bool {
	return d != nil && (d.Status.Rollback != nil || d.Status.Outcome == deploymentv1alpha1.OutcomeRolledBack)
}

// handoverLimit is the timeout for a deployment to observe an image before the status reports the delay.
const handoverLimit = 30 * time.Second

// handoverLeft returns the remaining time for which the status waits for the deployment to observe the image. It is 0 if it does not wait. A deployment
// without a controller, because its definition was removed or the object could not be created, is in the same state as a deployment that is observed a
// moment later: only time distinguishes them.
func (f *Facts) handoverLeft(in Input, o observed) time.Duration {
	if !f.isHandingOver(&in.Status, o) {
		return 0
	}
	left := handoverStart(in.Status.Transitions, o).Add(handoverLimit).Sub(in.Now.Time)
	if left > 2*handoverLimit {
		return 0 // The clocks disagree: it is not known how long it takes already.
	}
	return max(left, 0)
}

// handoverStart returns when the image was there at the earliest: the end of its build, or the last change of the phase if that is later.
func handoverStart(transitions []v1alpha1.Transition, o observed) time.Time {
	var start time.Time
	if n := len(transitions); n > 0 {
		start = transitions[n-1].At.Time
	}
	if o.build != nil && o.build.Status.AtProvider.Latest != nil {
		if builtAt := o.build.Status.AtProvider.Latest.At; builtAt != nil && builtAt.After(start) {
			start = builtAt.Time
		}
	}
	return start
}

// isHandingOver is true from the call that gives the deployment the image until the deployment takes it up, while the last status is about the same request and
// said that the image is still to come.
func (f *Facts) isHandingOver(last *v1alpha1.ApplicationStatus, o observed) bool {
	if f.Problem != "" || f.Missing != "" || !f.hasWantedImage() || f.Deployment.isSpecTakenUp() || o.deployment.isReconcileHalted() {
		return false
	}
	isBefore := last.Phase == v1alpha1.PhaseBuilding || last.Phase == v1alpha1.PhasePending
	return isBefore && last.SpecDigest == f.Digest && last.Source.Commit == f.Source.Commit
}

// keepEvidence fills in the evidence about the running image, and retains the recorded image. It returns an error if the deployment cannot be encoded.
func keepEvidence(in Input, o observed, f *Facts, out *Output) error {
	f.Deployment, f.Image = o.deploymentEvidence(in.Name, ""), o.deployment.desiredImage()
	if f.Image != "" && f.InForce.Image != "" {
		f.Image, f.Commit = f.InForce.Image, f.InForce.Commit
		if err := unstructured.SetNestedField(out.Resources[DeploymentName].Object.Object, f.Image, "spec", "expectation", "image"); err != nil {
			return errors.Wrap(err, "cannot retain the image of the deployment")
		}
	}
	f.KeepsOtherImage = f.Image != in.Spec.Image
	if o.health != nil {
		f.Health = ObserveHealth(o.health, o.health.Spec.ForProvider)
	}
	return nil
}

// markReadyResources sets for each desired resource whether it is ready.
func (o observed) markReadyResources(out *Output) {
	desired.SetReady(out.Resources, DeploymentName, o.deployment != nil && o.deployment.Status.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
	desired.SetReady(out.Resources, BuildName, o.build != nil && o.build.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
	desired.SetReady(out.Resources, HealthName, o.health != nil && o.health.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
}
