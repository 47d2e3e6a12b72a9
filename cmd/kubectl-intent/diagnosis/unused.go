package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A Site is a Site of the catalog.
type Site struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta        `json:"metadata"`
	Spec     catalogv1alpha1.SiteSpec `json:"spec"`
}

// A Need is an object of this cluster that a Site names.
type Need struct {
	APIVersion, Kind, Namespace, Name string

	// Key that a Secret has to have. Empty for other kinds.
	Key string

	// Field of the Site that names the object.
	Field string
}

// A NeedAnswer says whether an object exists, and has the key.
type NeedAnswer struct {
	IsFound bool

	// Unread says why it could not be read.
	Unread *cause.Unread
}

const (
	secretKind = "Secret"

	// keyOfClusterAPI is the key of the kubeconfig in the Secret of a Cluster.
	keyOfClusterAPI = "value"

	// inControlPlane is a location of an engine's object.
	inControlPlane = "ControlPlane"
)

// UnusedSites returns the Sites that no GitDelivery and no SiteSync names. There are none where these were not read.
func (f *Facts) UnusedSites() []*Site {
	if f.Deliveries.Unread != nil || f.Syncs.Unread != nil {
		return nil
	}
	used := map[string]bool{}
	for i := range f.Deliveries.Items {
		p := f.Deliveries.Items[i].Spec.ForProvider
		for _, t := range slices.Concat(p.Trees, p.Later) {
			used[t.Site] = true
		}
	}
	for i := range f.Syncs.Items {
		for _, s := range f.Syncs.Items[i].Status.AtProvider.Sites {
			used[s.Name] = true
		}
	}
	var out []*Site
	for i := range f.Sites.Items {
		if s := &f.Sites.Items[i]; !used[s.Metadata.Name] {
			out = append(out, s)
		}
	}
	return out
}

// Needs returns the objects of this cluster that a Site names, but for its configuration.
func (s *Site) Needs() []Need {
	var out []Need
	c := s.Spec.Cluster
	if ref := c.KubeconfigSecretRef; ref != nil {
		out = append(out, Need{APIVersion: "v1", Kind: secretKind, Namespace: ref.Namespace, Name: ref.Name, Key: cmp.Or(ref.Key, keyOfClusterAPI), Field: "spec.cluster.kubeconfigSecretRef"})
	}
	if ref := c.ClusterRef; ref != nil {
		out = append(out, Need{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Field: "spec.cluster.clusterRef"},
			Need{APIVersion: "v1", Kind: secretKind, Namespace: ref.Namespace, Name: ref.Name + "-kubeconfig", Key: keyOfClusterAPI, Field: "spec.cluster.clusterRef"})
	}
	return append(out, s.engineNeeds()...)
}

// engineNeeds returns the object of the engine, if that is in this cluster and the same for all deployments.
func (s *Site) engineNeeds() []Need {
	ref := s.Spec.Engine.ObjectRef
	if ref == nil || s.Spec.Cluster.ControlPlane == nil && s.Spec.Engine.Location != inControlPlane {
		return nil
	}
	fill := strings.NewReplacer("{site}", s.Metadata.Name)
	out := Need{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: fill.Replace(ref.Namespace), Name: fill.Replace(ref.Name), Field: "spec.engine.objectRef"}
	if strings.Contains(out.Namespace+out.Name, "{") {
		return nil
	}
	return []Need{out}
}

// nameOfNeed returns how a person names the object.
func (n Need) nameOfNeed() string {
	return n.Kind + " " + strings.TrimPrefix(n.Namespace+"/"+n.Name, "/")
}

// unusedSiteLine says whether the objects exist that a Site without a deployment names. The provider has not asked its cluster and its engine.
func (f *Facts) unusedSiteLine(s *Site) Line {
	out := Line{Check: checkSites, Object: nameOfSite(s), Result: OK, Message: "no deployment uses it, so its cluster and engine were not asked; the objects that it names exist"}
	if l, ok := f.missingConfig(s, out); ok {
		return l
	}
	for _, n := range s.Needs() {
		switch a, isAsked := f.Needs[n]; {
		case !isAsked || a.Unread != nil:
			out.Result, out.Message = Unknown, "no deployment uses it, so its cluster and engine were not asked; not read: "+n.nameOfNeed()
			if a.Unread != nil {
				out.Message += ": " + a.Unread.Reason
			}
		case !a.IsFound:
			return out.withProblem(missingWords(n), fmt.Sprintf("Make %s, or correct %s of the Site.", n.nameOfNeed(), n.Field))
		}
	}
	return out
}

// missingWords say that an object, or the key of a Secret, is missing.
func missingWords(n Need) string {
	if n.Key != "" {
		return fmt.Sprintf("%s with key %s does not exist, which %s names. No deployment uses the Site yet.", n.nameOfNeed(), n.Key, n.Field)
	}
	return fmt.Sprintf("%s does not exist, which %s names. No deployment uses the Site yet.", n.nameOfNeed(), n.Field)
}

func (l Line) withProblem(message, fix string) Line {
	l.Result, l.Message, l.Fix = Problem, message, fix
	return l
}

// missingConfig says that the configuration of a Site's own repository does not exist.
func (f *Facts) missingConfig(s *Site, l Line) (Line, bool) {
	ref := s.Spec.Repository.ProviderConfigRef
	if ref == nil || f.ClusterConfigs.Unread != nil || containsName(f.ClusterConfigs.Items, ref.Name) {
		return l, false
	}
	return l.withProblem(
		fmt.Sprintf("ClusterProviderConfig %s does not exist, which spec.repository.providerConfigRef names. No deployment uses the Site yet.", ref.Name),
		fmt.Sprintf("Make ClusterProviderConfig %s, or correct spec.repository.providerConfigRef of the Site.", ref.Name)), true
}

func nameOfSite(s *Site) string { return s.Kind + " " + s.Metadata.Name }
