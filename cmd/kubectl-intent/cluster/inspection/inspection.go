// Package inspection reads the objects of an installation that its diagnosis needs, as the user may read them.
package inspection

import (
	"context"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/product"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
)

// An Inspector reads the objects of an installation from an API server.
type Inspector struct {
	*server.Client
}

// ReadVersions reads the versions of an installation, for as long as ctx lasts. Unreadable objects are noted.
func (i Inspector) ReadVersions(ctx context.Context, f *diagnosis.Facts) {
	revisions := newPartTask(i, product.Packages("functionrevisions"), nil, product.IsRevision, &f.FunctionRevisions)
	server.RunTasks(ctx, append(i.versionTasks(f), revisions)...)
}

// ReadHealth reads the objects that report the health of an installation, for as long as ctx lasts. Unreadable objects are noted.
func (i Inspector) ReadHealth(ctx context.Context, e *diagnosis.Expected, f *diagnosis.Facts) {
	server.RunTasks(ctx, append(i.versionTasks(f),
		i.imageConfigTask(f),
		newPartTask(i, product.Definitions(), nil, product.HasGroup, &f.Definitions),
		newPartTask(i, managedKindsResource(), nil, product.HasGroup, &f.Kinds),
		newPartTask(i, configv1alpha1.GroupVersion.WithResource("clusterproviderconfigs"), nil, matchesAny, &f.ClusterConfigs),
		newPartTask(i, configv1alpha1.GroupVersion.WithResource("providerconfigs"), nil, matchesAny, &f.Configs),
		newPartTask(i, deliveryv1alpha1.GroupVersion.WithResource("gitdeliveries"), nil, matchesAny, &f.Deliveries),
		newPartTask(i, catalogv1alpha1.GroupVersion.WithResource("sites"), nil, matchesAny, &f.Sites),
		newPartTask(i, deliveryv1alpha1.GroupVersion.WithResource("sitesyncs"), nil, matchesAny, &f.Syncs),
		newPartTask(i, policiesResource("validatingadmissionpolicies"), nil, product.HasGroup, &f.Policies),
		newPartTask(i, policiesResource("validatingadmissionpolicybindings"), nil, product.HasGroup, &f.Bindings),
	)...)
	i.readSiteNeeds(ctx, f)
	f.Account = i.findAccount(ctx, f, e.Account)
	i.reviewRights(ctx, f, e.Granted())
}

// ReadReadiness reads the preconditions of an installation, for as long as ctx lasts. Unreadable objects are noted.
func (i Inspector) ReadReadiness(ctx context.Context, e *diagnosis.Expected, f *diagnosis.Facts) {
	server.RunTasks(ctx, append(i.versionTasks(f),
		func(context.Context) { i.readServerVersion(f) },
		i.imageConfigTask(f),
		newPartTask(i, managedKindsResource(), nil, product.HasGroup, &f.Kinds),
		newPartTask(i, policiesResource("validatingadmissionpolicies"), nil, product.HasGroup, &f.Policies),
	)...)
	i.reviewRights(ctx, f, e.Asked())
}

// OldClientWarning returns the warning of a program that is too old for the installed provider, or "". It sends a request only for a version that can be
// compared, and an unreadable provider gives no warning.
func (i Inspector) OldClientWarning(ctx context.Context, version string) string {
	if !diagnosis.IsComparable(version) {
		return ""
	}
	f := &diagnosis.Facts{}
	newPartTask(i, product.Packages("providers"), nil, product.IsPackage, &f.Providers)(ctx)
	return diagnosis.OldClientWarning(version, f.Providers.Items)
}

func (i Inspector) versionTasks(f *diagnosis.Facts) []server.Task {
	return []server.Task{
		newPartTask(i, deploymentsResource(), labels.Set{"app": "crossplane"}, matchesAny, &f.Crossplane),
		newPartTask(i, product.Packages("configurations"), nil, product.IsPackage, &f.Configurations),
		newPartTask(i, product.Packages("functions"), nil, product.IsPackage, &f.Functions),
		newPartTask(i, product.Packages("providers"), nil, product.IsPackage, &f.Providers),
	}
}

// imageConfigTask reads the ImageConfigs of Crossplane, which rewrite images and configure their programs.
func (i Inspector) imageConfigTask(f *diagnosis.Facts) server.Task {
	resource := schema.GroupVersionResource{Group: "pkg.crossplane.io", Version: "v1beta1", Resource: "imageconfigs"}
	return newPartTask(i, resource, nil, matchesAny, &f.Images)
}

func (i Inspector) readServerVersion(f *diagnosis.Facts) {
	v, err := i.Version()
	if err != nil {
		f.Kubernetes.Unread = &cause.Unread{Object: "version of the API server", Reason: server.UnreadReason(err)}
		return
	}
	f.Kubernetes.Items = []string{v}
}

func deploymentsResource() schema.GroupVersionResource {
	return appsv1.SchemeGroupVersion.WithResource("deployments")
}

func policiesResource(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}
}

func managedKindsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.crossplane.io", Version: "v1alpha1", Resource: "managedresourcedefinitions"}
}

func matchesAny(*unstructured.Unstructured) bool { return true }

// newPartTask returns a task that reads the objects of a resource in all namespaces, as far as they are wanted.
func newPartTask[T any](
	from Inspector, r schema.GroupVersionResource, selector labels.Set, isWanted func(*unstructured.Unstructured) bool, into *diagnosis.Part[T],
) server.Task {
	return func(ctx context.Context) {
		err := from.VisitPages(ctx, r, server.AllNamespaces, selector, func(page []unstructured.Unstructured) {
			for i := range page {
				if isWanted(&page[i]) {
					addDecodedItem(into, &page[i], r)
				}
			}
		})
		if err != nil {
			unread := describeUnread(err, r)
			into.Unread, into.IsAbsent = &unread, server.IsUnknownKind(err)
		}
	}
}

// addDecodedItem decodes an object, without the files that a GitDelivery delivers to its repository: they may be large.
func addDecodedItem[T any](into *diagnosis.Part[T], o *unstructured.Unstructured, r schema.GroupVersionResource) {
	trimForProvider(o)
	var item T
	if err := server.Decode(o, &item); err != nil {
		into.Unread = &cause.Unread{Object: r.GroupResource().String() + "/" + o.GetName(), Reason: err.Error()}
		return
	}
	into.Items = append(into.Items, item)
}

// trimForProvider removes spec.forProvider, except for the names of the Sites for which a GitDelivery has trees.
func trimForProvider(o *unstructured.Unstructured) {
	trees, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "forProvider", "trees")
	unstructured.RemoveNestedField(o.Object, "spec", "forProvider")
	all, _ := trees.([]any)
	var sites []any
	for _, t := range all {
		if entry, ok := t.(map[string]any); ok {
			sites = append(sites, map[string]any{"site": entry["site"]})
		}
	}
	if len(sites) > 0 {
		_ = unstructured.SetNestedSlice(o.Object, sites, "spec", "forProvider", "trees") // A spec that had trees is an object.
	}
}

// findAccount returns the service account of the Deployment that runs a provider's current revision, or the account that it has by our
// manifests.
func (i Inspector) findAccount(ctx context.Context, f *diagnosis.Facts, otherwise diagnosis.Account) diagnosis.Account {
	namespace := product.Namespace
	for _, w := range f.Crossplane.Items {
		namespace = w.Metadata.Namespace
	}
	items, err := i.List(ctx, deploymentsResource(), namespace)
	if err != nil {
		return otherwise
	}
	for j := range items {
		name, _, _ := unstructured.NestedString(items[j].Object, "spec", "template", "spec", "serviceAccountName")
		if name != "" && isOfProvider(&items[j], f.Providers.Items) {
			return diagnosis.Account{Namespace: namespace, Name: name}
		}
	}
	return otherwise
}

// isOfProvider is true for a Deployment that runs the current revision of one of the providers.
func isOfProvider(o *unstructured.Unstructured, providers []diagnosis.Package) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return slices.ContainsFunc(providers, func(p diagnosis.Package) bool { return p.Status.CurrentRevision == r.Name })
	})
}

// reviewRights asks the API server for each right of the account, or of the user without an account.
func (i Inspector) reviewRights(ctx context.Context, f *diagnosis.Facts, rights []diagnosis.Right) {
	f.Allowed = map[diagnosis.Right]bool{}
	mu := sync.Mutex{}
	var all []server.Task
	for _, r := range rights {
		all = append(all, func(ctx context.Context) {
			allowed, err := i.reviewAccess(ctx, f.Account, r)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				unread := describeUnread(err, reviewsResource(f.Account))
				f.Unasked = &unread
				return
			}
			f.Allowed[r] = allowed
		})
	}
	server.RunTasks(ctx, all...)
}

func reviewsResource(account diagnosis.Account) schema.GroupVersionResource {
	if account.Name == "" {
		return authorizationv1.SchemeGroupVersion.WithResource("selfsubjectaccessreviews")
	}
	return authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews")
}

// reviewAccess reports whether an account has a right in all namespaces.
func (i Inspector) reviewAccess(ctx context.Context, account diagnosis.Account, r diagnosis.Right) (bool, error) {
	kind := "SelfSubjectAccessReview"
	spec := map[string]any{"resourceAttributes": map[string]any{"verb": r.Verb, "group": r.Group, "resource": r.Resource}}
	if account.Name != "" {
		kind = "SubjectAccessReview"
		spec["user"] = "system:serviceaccount:" + account.Namespace + ":" + account.Name
		spec["groups"] = []any{"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace, "system:authenticated"}
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": authorizationv1.SchemeGroupVersion.String(), "kind": kind, "spec": spec}}
	answer, err := i.Resource(reviewsResource(account)).Create(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}

// describeUnread names an unreadable resource, with the cause in few words.
func describeUnread(err error, resource schema.GroupVersionResource) cause.Unread {
	return cause.Unread{Object: resource.GroupResource().String(), Reason: server.UnreadReason(err)}
}
