package samples

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/function/application"
)

// An ApplicationSample is an Application with its composed objects.
type ApplicationSample struct {
	// Deployment that the Application composed.
	Deployment *Sample

	// Spec of the Application.
	Spec applicationv1alpha1.ApplicationSpec

	// Problem of the spec, and its reason. Empty if there is none.
	Problem, ProblemReason string

	// Sites are the SiteHealth's reports about them.
	Sites []deliveryv1alpha1.SiteHealthState
}

// NewApplication returns an Application with a deployment, whose pods serve at both Sites.
func NewApplication(deployment *Sample) *ApplicationSample {
	serves := deliveryv1alpha1.SiteHealthState{State: deliveryv1alpha1.HealthAvailable, Available: 2, Updated: 2, Desired: 2}
	first, second := serves, serves
	first.Name, second.Name = "edge1", "edge2"
	out := &ApplicationSample{
		Deployment: deployment, Sites: []deliveryv1alpha1.SiteHealthState{first, second},
		Spec: applicationv1alpha1.ApplicationSpec{Image: "registry.example.org/shop:2.0", Deploy: applicationv1alpha1.Deploy{Sites: []deploymentv1alpha1.SiteName{"edge1", "edge2"}}},
	}
	out.Spec.Default()
	deployment.Labels = map[string]string{application.LabelApplication: name}
	deployment.Spec = application.DeploymentFor(namespace, name, out.Spec).Spec
	return out
}

// Crashing is an Application whose image was verified, and whose pods crash at its second Site.
func Crashing() *ApplicationSample {
	s := NewApplication(Verified())
	s.Sites[1] = deliveryv1alpha1.SiteHealthState{
		Name: "edge2", State: deliveryv1alpha1.HealthUnavailable, Updated: 2, Desired: 2, Reason: "CrashLoopBackOff", Message: "container shop of pod shop-7c9 exited with 1",
	}
	return s
}

// Facts returns the objects as a reader of the cluster sees them. The function's own projection makes the status.
func (s *ApplicationSample) Facts() *cause.ApplicationFacts {
	below := s.Deployment.Facts()
	h := &deliveryv1alpha1.SiteHealth{}
	h.APIVersion, h.Kind = deliveryv1alpha1.GroupVersion.String(), "SiteHealth"
	h.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1}
	h.Spec.ForProvider.ClaimRef, h.Spec.ForProvider.Image = s.Deployment.Input.Claim, s.Spec.Image
	h.Status.AtProvider.Image, h.Status.AtProvider.Sites = s.Spec.Image, s.Sites
	h.SetConditions(readyCondition("Serving"), syncedCondition())
	for _, site := range s.Sites {
		if !site.IsServing() {
			h.SetConditions(NotReady(site.Reason, "Site "+site.Name+": "+site.Message))
		}
	}
	f := &cause.ApplicationFacts{Deployment: below, Health: h}
	f.Application = cause.Application{Spec: cause.ApplicationSpec{ApplicationSpec: s.Spec}}
	f.Application.APIVersion, f.Application.Kind = s.Deployment.Group+"/v1alpha1", applicationv1alpha1.Kind
	f.Application.Metadata = metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: generation}
	// A spec of these types can be encoded.
	f.SpecDigest, _ = digest.Application(&s.Spec)
	s.projectStatus(f)
	return f
}

// projectStatus makes the status and the conditions, as the function would.
func (s *ApplicationSample) projectStatus(f *cause.ApplicationFacts) {
	d := f.Deployment.Deployment
	requested, _ := digest.Spec(&d.Spec.IntentDeploymentSpec)
	from := &application.Facts{
		Digest: f.SpecDigest, Image: s.Spec.Image, Problem: s.Problem, ProblemReason: s.ProblemReason, Build: application.Build{State: application.BuildNotRequired},
		Deployment: application.ObserveDeployment(name, requested, d.Status.IntentDeploymentStatus, d.Status.Conditions.IsTrue("Ready")),
		Health:     application.Health{Image: s.Spec.Image, Sites: s.Sites},
	}
	p := application.Project(from, &applicationv1alpha1.ApplicationStatus{}, timeBeforeNow(41*time.Second))
	f.Application.Status.ApplicationStatus = *p.Status
	transitionTime := timeBeforeNow(41 * time.Second)
	for _, c := range p.Conditions {
		f.Application.Status.Conditions = append(f.Application.Status.Conditions, cause.Condition{
			Type: c.Type, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, LastTransitionTime: &transitionTime,
		})
	}
	ready := metav1.ConditionFalse
	if p.Ready {
		ready = metav1.ConditionTrue
	}
	f.Application.Status.Conditions = append(f.Application.Status.Conditions, cause.Condition{Type: "Ready", Status: ready, Reason: "Available", LastTransitionTime: &transitionTime})
}

// Objects returns the objects of a sample, as an API server has them. It returns an error for an object that cannot be encoded.
func (s *ApplicationSample) Objects() ([]*unstructured.Unstructured, error) {
	f := s.Facts()
	return encodeAbove([]any{&f.Application, f.Health}, s.Deployment)
}

// encodeAbove returns objects, and the objects of the deployment below them.
func encodeAbove(aboveObjects []any, below *Sample) ([]*unstructured.Unstructured, error) {
	out, err := encodeObjects(aboveObjects)
	if err != nil {
		return nil, err
	}
	objects, err := below.Objects()
	return append(out, objects...), err
}
