// Package compose makes the desired managed resources of a revision from its trees: GitDeliveries, the SiteSync and the Gate.
package compose

import (
	"cmp"
	"maps"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
)

// LabelClaim holds the name of the deployment that a managed resource was composed for.
const LabelClaim = "intentplane.dev/deployment"

// AnnotationRepository names the composed resource that a delivery would be if its configuration had always named the repository that the
// delivery goes to. Absent means that this is its own name. It is not part of the revision: the provider does nothing for it.
const AnnotationRepository = "intentplane.dev/repository"

// Rendered is the desired content of one Site.
type Rendered struct {
	// Place of the Site.
	Place catalog.Place

	// Files of the Site's directory. Nil means that the Site has to wait: its directory stays as it is.
	Files tree.Files

	// Packed files. Nil means that they are not packed yet.
	Packed *tree.Packed
}

// Deliveries are the managed resources that bring rendered files to their repositories, one for each, by the name of the composed
// resource. It returns a tree.TooLargeError for trees that do not fit.
func Deliveries(claim rolloutv1alpha1.ClaimReference, spec deploymentv1alpha1.DeliveryConfig, rendered []Rendered) (map[string]*deliveryv1alpha1.GitDelivery, error) {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	for _, r := range rendered {
		name, err := Name(r.Place)
		if err != nil {
			return nil, err
		}
		if out[name] == nil {
			out[name] = NewDelivery(claim, spec, r.Place.ConfigRef)
		}
		t, err := newDeliveryTree(r)
		if err != nil {
			return nil, err
		}
		p := &out[name].Spec.ForProvider
		p.Trees = append(p.Trees, t)
	}
	return out, nil
}

// Name of the composed resource that delivers to a place's repository. It depends on the repository alone, so that another
// configuration for the same one changes the delivery and does not replace it: a replaced one would remove its directories.
func Name(p catalog.Place) (string, error) {
	d, err := digest.Of(p.Repository, nil)
	if err != nil {
		return "", err
	}
	return "delivery-" + d[len("sha256:"):][:12], nil
}

// Inherit gives wanted deliveries the names of the observed deliveries that they have to go on from: the deliveries with the same configuration,
// when it came to name another repository. The observed delivery would reach the new repository too, and remove the trees of its
// successor.
func Inherit(wanted, observed map[string]*deliveryv1alpha1.GitDelivery) map[string]*deliveryv1alpha1.GitDelivery {
	out := maps.Clone(wanted)
	for _, name := range slices.Sorted(maps.Keys(observed)) {
		if wanted[name] != nil {
			continue
		}
		for _, heir := range slices.Sorted(maps.Keys(wanted)) {
			if observed[heir] == nil && out[heir] != nil && hasSameConfig(wanted[heir], observed[name]) {
				out[name] = withAnnotation(out[heir], AnnotationRepository, heir)
				delete(out, heir)
			}
		}
	}
	return out
}

// withAnnotation returns a delivery with one more annotation. The delivery that it is made from stays as it is.
func withAnnotation(d *deliveryv1alpha1.GitDelivery, key, value string) *deliveryv1alpha1.GitDelivery {
	out := *d
	out.Annotations = map[string]string{}
	maps.Copy(out.Annotations, d.Annotations)
	out.Annotations[key] = value
	return &out
}

// ByRepository returns observed deliveries by the repository that their trees are for, as Name names it. A delivery that was never applied is not
// in a repository yet, and counts as the wanted delivery in its place. All of them do where isRequested says that they are for the wanted
// places: deliveries of earlier versions do not name their repository.
func ByRepository(observed, wanted map[string]*deliveryv1alpha1.GitDelivery, isRequested bool) map[string]*deliveryv1alpha1.GitDelivery {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	for _, name := range slices.Sorted(maps.Keys(observed)) {
		from := observed[name]
		if w := wanted[name]; w != nil && (isRequested || from.Status.AtProvider.Remote == nil) {
			from = w
		}
		key := repositoryKey(name, from)
		if out[key] != nil {
			key = name
		}
		out[key] = observed[name]
	}
	return out
}

// repositoryKey returns the repository that a delivery goes to, as Name names it.
func repositoryKey(name string, d *deliveryv1alpha1.GitDelivery) string {
	return cmp.Or(d.GetAnnotations()[AnnotationRepository], name)
}

func hasSameConfig(a, b *deliveryv1alpha1.GitDelivery) bool {
	return a.Spec.ProviderConfigReference != nil && b.Spec.ProviderConfigReference != nil &&
		*a.Spec.ProviderConfigReference == *b.Spec.ProviderConfigReference
}

// NewDelivery returns a delivery to the repository of a configuration, without trees and events.
func NewDelivery(claim rolloutv1alpha1.ClaimReference, spec deploymentv1alpha1.DeliveryConfig, config catalog.ConfigRef) *deliveryv1alpha1.GitDelivery {
	return &deliveryv1alpha1.GitDelivery{
		TypeMeta:   metav1.TypeMeta{APIVersion: deliveryv1alpha1.GroupVersion.String(), Kind: "GitDelivery"},
		ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Labels: map[string]string{LabelClaim: claim.Name}},
		Spec: deliveryv1alpha1.GitDeliverySpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{
				ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: config.Kind, Name: config.Name},
				ManagementPolicies:      managementPolicies(spec.DeletionPolicy),
			},
			ForProvider: deliveryv1alpha1.GitDeliveryParameters{
				ClaimRef:    claim,
				Adopt:       spec.Adopt,
				DriftPolicy: deliveryv1alpha1.DriftPolicy(spec.DriftPolicy),

				DeliveryTimeout: string(spec.DeliveryTimeout),
			},
		},
	}
}

// managementPolicies are the management policies in force. Crossplane does not call the function when a composite is deleted, so the
// policy for a deletion has to be set beforehand.
func managementPolicies(deletion string) xpv2.ManagementPolicies {
	if deletion == deploymentv1alpha1.DeletionOrphan {
		return xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	}
	return xpv2.ManagementPolicies{xpv2.ManagementActionAll}
}

func newDeliveryTree(r Rendered) (deliveryv1alpha1.Tree, error) {
	t := deliveryv1alpha1.Tree{
		Site:     r.Place.Site.GetName(),
		Branch:   r.Place.Config.Git.Branch,
		Path:     r.Place.Path,
		Layout:   r.Place.Site.Spec.Repository.Layout,
		Encoding: deliveryv1alpha1.EncodingGzipTar,
		Action:   deliveryv1alpha1.ActionKeep,
	}
	if r.Files == nil {
		return t, nil
	}
	if r.Packed == nil {
		packed, err := tree.NewPacker(0).Pack(r.Files)
		if err != nil {
			return t, err
		}
		r.Packed = &packed
	}
	t.Action, t.Tree, t.Files = deliveryv1alpha1.ActionDesired, r.Packed.ID, r.Packed.Encoded
	return t, nil
}

// InOrder returns deliveries in the order of their names.
func InOrder(ds map[string]*deliveryv1alpha1.GitDelivery) []*deliveryv1alpha1.GitDelivery {
	var out []*deliveryv1alpha1.GitDelivery
	for _, name := range slices.Sorted(maps.Keys(ds)) {
		out = append(out, ds[name])
	}
	return out
}

// SitesOf returns the Sites that a delivery has trees for, in their order.
func SitesOf(d *deliveryv1alpha1.GitDelivery) []string {
	var out []string
	for _, t := range d.Spec.ForProvider.Trees {
		out = append(out, t.Site)
	}
	return out
}

// TreeIDs are the ids of the trees that deliveries ask for, by repository, branch and path.
func TreeIDs(ds map[string]*deliveryv1alpha1.GitDelivery) map[string]string {
	out := map[string]string{}
	for name, d := range ds {
		for _, t := range d.Spec.ForProvider.Trees {
			out[name+" "+t.Branch+" "+t.Path] = t.Tree
		}
	}
	return out
}

// AskedIDs are the ids of the trees that belong to a revision, by repository, branch and path: the trees that deliveries ask for with it,
// and the trees in Git where a delivery was lost and does not ask for the revision yet.
func AskedIDs(ds map[string]*deliveryv1alpha1.GitDelivery, revision int64) map[string]string {
	out := TreeIDs(ds)
	for name, d := range ds {
		if AsksForRevision(d, revision) {
			continue
		}
		for path, tree := range deliveredTreeIDs(d) {
			out[name+" "+path] = tree
		}
	}
	return out
}

// deliveredTreeIDs are the ids of the trees that the repository of a delivery holds, by branch and path, and none where it holds nothing at a path that the
// delivery asks for. A directory that the delivery does not ask for counts too: the revision may have been brought there. All trees of a delivery are on
// one branch, that of its configuration.
func deliveredTreeIDs(d *deliveryv1alpha1.GitDelivery) map[string]string {
	out, branch := map[string]string{}, ""
	for _, t := range d.Spec.ForProvider.Trees {
		branch = t.Branch
		out[branch+" "+t.Path] = ""
	}
	for _, delivered := range d.Status.AtProvider.Trees {
		out[branch+" "+delivered.Path] = delivered.Tree
	}
	return out
}

// treeOverhead is the size of the data about a tree in an object beside its files: in the spec, in the status, and in the managed
// fields of the API server.
const treeOverhead = 600

// EncodedBytes returns the size of the trees of a delivery in its object, with the trees of later waves.
func EncodedBytes(d *deliveryv1alpha1.GitDelivery) int {
	total := 0
	for t := range d.Spec.ForProvider.EachTree() {
		total += bytesOfTree(t)
	}
	return total
}

// bytesOfTree returns the size of a tree in an object, in bytes. JSON carries bytes as base64: four characters for three bytes. A path is in spec, status and notes.
func bytesOfTree(t deliveryv1alpha1.Tree) int {
	return (len(t.Files)+2)/3*4 + 3*len(t.Path) + treeOverhead
}
