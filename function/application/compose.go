package application

import (
	"cmp"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/desired"
)

// Names of the composed resources in the composition.
const (
	// DeploymentName is that of the IntentDeployment.
	DeploymentName = "deployment"

	// BuildName is that of the ImageBuild.
	BuildName = "build"

	// HealthName is that of the SiteHealth.
	HealthName = "health"
)

// LabelApplication holds the name of the Application that an object was composed for.
const LabelApplication = "intentplane.dev/application"

// endpointName is the name of the port that a service listens at.
const endpointName = "http"

// requestResources adds the desired resources: the ImageBuild of a source; the IntentDeployment, once there is an image; and the SiteHealth, once the
// IntentDeployment names its Sites. It fills in the evidence about them.
func requestResources(in Input, o observed, f *Facts, out *Output) error {
	f.Note = NoteOn(in.Spec)
	request, err := requestBuild(in, o, f, out)
	if err != nil {
		return err
	}
	want := f.chooseDeployment(in, o, request)
	if want == nil {
		return nil
	}
	f.Image, f.RouteWaits = want.Spec.Expectation.Image, !maps.Equal(want.Spec.Expectation.Parameters, parametersFor(in.Spec))
	if err := addResource(out, DeploymentName, want); err != nil {
		return err
	}
	sum, err := digest.Spec(&want.Spec)
	if err != nil {
		return err
	}
	f.Deployment = o.deploymentEvidence(in.Name, sum)
	f.Deployment.HasOtherSites = f.Deployment.lacksNamedSite(want.Spec.Expectation)
	health := composeSiteHealth(in, f.Image, f.Deployment.Sites)
	if health == nil {
		return nil
	}
	f.Health = ObserveHealth(o.health, health.Spec.ForProvider)
	return addResource(out, HealthName, health)
}

func addResource(out *Output, name string, v any) error {
	o, err := desired.Encode(v)
	if err != nil {
		return errors.Wrapf(err, "cannot encode composed resource %q", name)
	}
	out.Resources[name] = desired.Resource{Object: o}
	return nil
}

// DeploymentFor returns the desired IntentDeployment of an Application of this spec. Defaults of the spec have to be filled in.
func DeploymentFor(namespace, name string, s v1alpha1.ApplicationSpec) *Composed {
	return &Composed{
		TypeMeta:   metav1.TypeMeta{APIVersion: deploymentv1alpha1.GroupNamespaced + "/" + deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{LabelApplication: name}},
		Spec:       deploymentSpecFor(name, s),
	}
}

func deploymentSpecFor(name string, s v1alpha1.ApplicationSpec) deploymentv1alpha1.IntentDeploymentSpec {
	return deploymentv1alpha1.IntentDeploymentSpec{
		Expectation: expectationFor(name, s), Blueprint: s.Deploy.Blueprint, DeliveryConfig: s.Deploy.DeliveryConfig,
		GatesConfig: gatesConfigFor(s.Deploy), RollbackConfig: s.Deploy.RollbackConfig, Suspend: s.Deploy.Suspend,
	}
}

// Composed is a desired IntentDeployment. It has no status.
type Composed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec deploymentv1alpha1.IntentDeploymentSpec `json:"spec"`
}

func expectationFor(name string, s v1alpha1.ApplicationSpec) *deploymentv1alpha1.Expectation {
	e := &deploymentv1alpha1.Expectation{
		Service: name, Type: serviceTypeOf(s), Sites: s.Deploy.Sites, Image: s.Image, Replicas: s.Replicas, SiteReplicas: s.SiteReplicas,
		Resources:  deploymentv1alpha1.Resources{CPU: deploymentv1alpha1.Quantity(s.Resources.CPU), Memory: deploymentv1alpha1.Quantity(s.Resources.Memory)},
		Parameters: parametersFor(s), Runtime: runtimeOfSpec(s),
	}
	if s.Port != nil {
		e.Endpoints = []deploymentv1alpha1.Endpoint{{Name: endpointName, Port: *s.Port}}
	}
	e.Default()
	return e
}

func serviceTypeOf(s v1alpha1.ApplicationSpec) string {
	if s.IsRouted() {
		return cmp.Or(s.Deploy.Type, v1alpha1.ServiceTypeRouted)
	}
	return cmp.Or(s.Deploy.Type, v1alpha1.ServiceTypeInternal)
}

// parametersFor returns the parameters of the spec, with the parameters of its route.
func parametersFor(s v1alpha1.ApplicationSpec) map[string]deploymentv1alpha1.ParameterValue {
	out := map[string]deploymentv1alpha1.ParameterValue{}
	maps.Copy(out, s.Deploy.Parameters)
	if s.IsRouted() {
		out["host"] = deploymentv1alpha1.ParameterValue(s.Route.Host)
		out["path"] = deploymentv1alpha1.ParameterValue(s.Route.Path)
		if g := s.Route.Gateway; g != nil {
			out["gateway"], out["gateway-namespace"] = deploymentv1alpha1.ParameterValue(g.Name), deploymentv1alpha1.ParameterValue(g.Namespace)
		}
	}
	maps.DeleteFunc(out, func(key string, v deploymentv1alpha1.ParameterValue) bool {
		_, isSet := s.Deploy.Parameters[key]
		return v == "" && !isSet
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// runtimeOfSpec returns the settings of containers and pods, or nil for the settings of the Blueprint.
func runtimeOfSpec(s v1alpha1.ApplicationSpec) *deploymentv1alpha1.Runtime {
	r := &deploymentv1alpha1.Runtime{Autoscaling: s.Autoscaling, Env: slices.Clone(s.Env), ImagePullSecrets: s.ImagePullSecrets}
	for _, service := range s.Services {
		for _, e := range service.Env {
			ref := &deploymentv1alpha1.KeyReference{Name: service.SecretRef.Name, Key: e.Key}
			r.Env = append(r.Env, deploymentv1alpha1.EnvVar{Name: e.Name, ValueFrom: &deploymentv1alpha1.EnvSource{SecretKeyRef: ref}})
		}
		if service.Mount == nil || *service.Mount {
			r.Bindings = append(r.Bindings, deploymentv1alpha1.Binding{Name: service.Name, SecretRef: service.SecretRef})
		}
	}
	if s.Health != nil {
		r.Health = &deploymentv1alpha1.HealthCheck{Path: s.Health.Path, Port: servicePortOf(s)}
	}
	if r.Autoscaling == nil && r.Health == nil && len(r.Env)+len(r.Bindings)+len(r.ImagePullSecrets) == 0 {
		return nil
	}
	return r
}

func servicePortOf(s v1alpha1.ApplicationSpec) int32 {
	if s.Port == nil {
		return v1alpha1.DefaultPort
	}
	return *s.Port
}

// composeSiteHealth returns the SiteHealth that observes the image at some Sites, or nil for none.
func composeSiteHealth(in Input, image string, sites []string) *deliveryv1alpha1.SiteHealth {
	if len(sites) == 0 {
		return nil
	}
	targets := make([]deliveryv1alpha1.HealthTarget, 0, len(sites))
	for _, name := range sites {
		targets = append(targets, deliveryv1alpha1.HealthTarget{Name: name})
	}
	return &deliveryv1alpha1.SiteHealth{
		TypeMeta:   metav1.TypeMeta{APIVersion: deliveryv1alpha1.GroupVersion.String(), Kind: "SiteHealth"},
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Name: in.Name, Labels: map[string]string{LabelApplication: in.Name}},
		Spec: deliveryv1alpha1.SiteHealthSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ManagementPolicies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}},
			ForProvider: deliveryv1alpha1.SiteHealthParameters{
				ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupNamespaced, Kind: deploymentv1alpha1.Kind, Namespace: in.Namespace, Name: in.Name},
				Image:    image, Route: in.Spec.IsRouted(), Sites: targets,
			},
		},
	}
}

// serviceURLOf returns where a service is reached, or "".
func serviceURLOf(s v1alpha1.ApplicationSpec) string {
	if !s.IsRouted() {
		return ""
	}
	scheme := "http://"
	if s.Route.TLS != nil && *s.Route.TLS {
		scheme = "https://"
	}
	if s.Route.Path == "/" {
		return scheme + s.Route.Host
	}
	return scheme + s.Route.Host + s.Route.Path
}
