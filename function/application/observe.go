package application

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
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
		Annotations map[string]string `json:"annotations"`
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
	out.Resources, failed[0] = compose.RetainAll(in.Observed)
	o.deployment, failed[1] = compose.Observe[observedDeployment](in.Observed, DeploymentName)
	o.build, failed[2] = compose.Observe[buildv1alpha1.ImageBuild](in.Observed, BuildName)
	o.health, failed[3] = compose.Observe[deliveryv1alpha1.SiteHealth](in.Observed, HealthName)
	return o, errors.Join(failed[:]...)
}

// deploymentEvidence returns the evidence about the IntentDeployment, where asked is the digest of the spec that it should have.
func (o observed) deploymentEvidence(name, asked string) Deployment {
	if o.deployment == nil {
		return Deployment{Name: name, Asked: asked}
	}
	s := o.deployment.Status
	d := ObserveDeployment(name, asked, s.IntentDeploymentStatus, s.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
	d.Stalled = s.GetCondition(deploymentv1alpha1.TypeStalled).Status == corev1.ConditionTrue
	return d
}

// isRefused reports whether Crossplane does not carry the spec of the deployment out: it is paused, or the function fails.
func (d *observedDeployment) isRefused() bool {
	return d != nil && d.Status.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionFalse
}

// isHandingOver is true from the call that gives the deployment the image until the deployment takes it up, while the last status is about the same request and
// said that the image is still to come.
func (f *Facts) isHandingOver(last *v1alpha1.ApplicationStatus, o observed) bool {
	if f.Problem != "" || f.Missing != "" || !f.hasWantedImage() || f.Deployment.isTakenUp() || o.deployment.isRefused() {
		return false
	}
	isBefore := last.Phase == v1alpha1.PhaseBuilding || last.Phase == v1alpha1.PhasePending
	return isBefore && last.SpecDigest == f.Digest && last.Source.Commit == f.Source.Commit
}

// keepEvidence fills in what is known of what runs, while nothing else can be asked for.
func (f *Facts) keepEvidence(in Input, o observed) {
	f.Deployment = o.deploymentEvidence(in.Name, "")
	f.Image, f.Commit = o.deployment.image(), o.deployment.inForce().commit
	if o.health != nil {
		f.Health = ObserveHealth(o.health, o.health.Spec.ForProvider)
	}
}

// markReady says of each resource that should exist whether it has what is asked for.
func (o observed) markReady(out *Output) {
	compose.SetReady(out.Resources, DeploymentName, o.deployment != nil && o.deployment.Status.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
	compose.SetReady(out.Resources, BuildName, o.build != nil && o.build.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
	compose.SetReady(out.Resources, HealthName, o.health != nil && o.health.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
}
