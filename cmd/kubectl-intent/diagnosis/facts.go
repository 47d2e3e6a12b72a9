package diagnosis

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A Part has the observed objects of one kind.
type Part[T any] struct {
	Items []T

	// Unread says that not all could be read, and why. Nil means that all were.
	Unread *cause.Unread

	// IsAbsent is true if the cluster does not have the kind.
	IsAbsent bool
}

// Facts are the observed objects of an installation.
type Facts struct {
	// Client is the version of this program.
	Client string

	// Kubernetes is the version of the API server.
	Kubernetes Part[string]

	// Crossplane are its Deployments.
	Crossplane Part[Workload]

	Configurations, Functions, Providers Part[Package]

	// Images are the ImageConfigs of Crossplane.
	Images Part[pkgv1beta1.ImageConfig]

	// FunctionRevisions are all revisions of our functions, not only current ones.
	FunctionRevisions Part[cause.Object]

	Definitions Part[cause.Object]
	Kinds       Part[ManagedKind]

	// Account is the provider's account, or empty for the user's own. Allowed are the rights that were checked: a right that is missing here
	// was not answered.
	Account Account
	Allowed map[Right]bool
	Unasked *cause.Unread

	ClusterConfigs, Configs Part[cause.Object]
	Deliveries              Part[Delivery]
	Sites                   Part[Site]
	Syncs                   Part[Sync]
	Policies, Bindings      Part[cause.Object]

	// Needs are the needs of Sites that no deployment uses. A need that is missing here was not checked.
	Needs map[Need]NeedAnswer
}

// A Package is one of Crossplane's packages.
type Package struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Package string `json:"package"`
	} `json:"spec"`
	Status struct {
		CurrentRevision string           `json:"currentRevision,omitempty"`
		Conditions      cause.Conditions `json:"conditions,omitempty"`
	} `json:"status"`
}

// Version is the tag of the package. It is empty for a package that is named by its digest alone.
func (p *Package) Version() string { return tagOfImage(p.Spec.Package) }

// kindAndName returns how a person names the package.
func (p *Package) kindAndName() string { return p.Kind + " " + p.Metadata.Name }

// A Workload is a Deployment of Kubernetes, as far as versions and accounts are concerned.
type Workload struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Template struct {
			Spec struct {
				ServiceAccountName string `json:"serviceAccountName,omitempty"`
				Containers         []struct {
					Image string `json:"image,omitempty"`
				} `json:"containers,omitempty"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// labelVersion is the label by which charts name the installed version.
const labelVersion = "app.kubernetes.io/version"

// Version is the value of the Deployment's label, or else the tag of its image. It is empty if neither says it.
func (w *Workload) Version() string {
	if v := w.Metadata.Labels[labelVersion]; v != "" {
		return v
	}
	for _, c := range w.Spec.Template.Spec.Containers {
		if tag := tagOfImage(c.Image); tag != "" {
			return tag
		}
	}
	return ""
}

// tagOfImage returns the tag of an image, or "".
func tagOfImage(image string) string {
	name, _, _ := strings.Cut(image, "@")
	name = name[strings.LastIndex(name, "/")+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}

// A ManagedKind is a ManagedResourceDefinition.
type ManagedKind struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		State string `json:"state,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions cause.Conditions `json:"conditions,omitempty"`
	} `json:"status"`
}

// A SiteOfTree is the Site of a tree.
type SiteOfTree struct {
	Site string `json:"site"`
}

// A Delivery is a GitDelivery, as far as it says whether its repository is reached.
type Delivery struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Config      *xpv2.ProviderConfigReference `json:"providerConfigRef,omitempty"`
		ForProvider struct {
			// Trees without their content for the repository.
			Trees []SiteOfTree `json:"trees,omitempty"`

			// Later are the trees of later steps.
			Later []SiteOfTree `json:"later,omitempty"`
		} `json:"forProvider"`
	} `json:"spec"`
	Status struct {
		Conditions cause.Conditions `json:"conditions,omitempty"`
	} `json:"status"`
}

// A Sync is a SiteSync, as far as it says whether Sites are reached.
type Sync struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		Conditions cause.Conditions `json:"conditions,omitempty"`
		AtProvider struct {
			Sites []SiteSeen `json:"sites,omitempty"`
		} `json:"atProvider"`
	} `json:"status"`
}

// A SiteSeen is the report of a SiteSync about one Site.
type SiteSeen struct {
	Name    string                     `json:"name"`
	State   deliveryv1alpha1.SiteState `json:"state"`
	Reason  string                     `json:"reason,omitempty"`
	Message string                     `json:"message,omitempty"`
}

// An Account is a service account.
type Account struct{ Namespace, Name string }

// String returns how kubectl names the account.
func (a Account) String() string { return a.Namespace + "/" + a.Name }

// A Right is to do something with the objects of a resource, in all namespaces.
type Right struct{ Verb, Group, Resource string }

// resourceName returns how kubectl names the resource: sites.catalog.intentplane.dev.
func (r Right) resourceName() string { return strings.TrimSuffix(r.Resource+"."+r.Group, ".") }
