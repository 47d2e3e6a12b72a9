package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
)

// requestsAtOnce is how many requests of a look at an installation the API server gets at once.
const requestsAtOnce = 16

// A task asks the API server for one thing, and notes unreadable objects.
type task func(ctx context.Context)

// runTasks runs tasks side by side.
func runTasks(ctx context.Context, all ...task) {
	g := errgroup.Group{}
	g.SetLimit(requestsAtOnce)
	for _, t := range all {
		g.Go(func() error {
			t(ctx)
			return nil
		})
	}
	_ = g.Wait() // No task returns an error.
}

// ReadVersions reads the versions of an installation, for as long as ctx lasts. Unreadable objects are noted.
func (c *Cluster) ReadVersions(ctx context.Context, f *diagnosis.Facts) {
	revisions := readPart(c, packagesResource("functionrevisions"), nil, isOurRevision, &f.FunctionRevisions)
	runTasks(ctx, append(c.versionTasks(f), revisions)...)
}

// ReadHealth reads the objects that report the health of an installation, for as long as ctx lasts. Unreadable objects are noted.
func (c *Cluster) ReadHealth(ctx context.Context, e *diagnosis.Expected, f *diagnosis.Facts) {
	runTasks(ctx, append(c.versionTasks(f),
		c.imageTask(f),
		readPart(c, definitionsResource(), nil, hasOurGroup, &f.Definitions),
		readPart(c, managedKindsResource(), nil, hasOurGroup, &f.Kinds),
		readPart(c, configv1alpha1.GroupVersion.WithResource("clusterproviderconfigs"), nil, matchesAny, &f.ClusterConfigs),
		readPart(c, configv1alpha1.GroupVersion.WithResource("providerconfigs"), nil, matchesAny, &f.Configs),
		readPart(c, composedResources()[0], nil, matchesAny, &f.Deliveries),
		readPart(c, catalogv1alpha1.GroupVersion.WithResource("sites"), nil, matchesAny, &f.Sites),
		readPart(c, composedResources()[1], nil, matchesAny, &f.Syncs),
		readPart(c, policiesResource("validatingadmissionpolicies"), nil, hasOurGroup, &f.Policies),
		readPart(c, policiesResource("validatingadmissionpolicybindings"), nil, hasOurGroup, &f.Bindings),
	)...)
	c.readNeeds(ctx, f)
	f.Account = c.findAccount(ctx, f, e.Account)
	c.askRights(ctx, f, e.Granted())
}

// ReadReadiness reads the preconditions of an installation, for as long as ctx lasts. Unreadable objects are noted.
func (c *Cluster) ReadReadiness(ctx context.Context, e *diagnosis.Expected, f *diagnosis.Facts) {
	runTasks(ctx, append(c.versionTasks(f),
		func(context.Context) { c.readServerVersion(f) },
		c.imageTask(f),
		readPart(c, managedKindsResource(), nil, hasOurGroup, &f.Kinds),
		readPart(c, policiesResource("validatingadmissionpolicies"), nil, hasOurGroup, &f.Policies),
	)...)
	c.askRights(ctx, f, e.Asked())
}

// OldClientWarning returns the warning of a program that is too old for the installed provider, or "". It asks the API server only about a version that can be
// compared, and an unreadable provider gives no warning.
func (c *Cluster) OldClientWarning(ctx context.Context, version string) string {
	if !diagnosis.IsComparable(version) {
		return ""
	}
	f := &diagnosis.Facts{}
	readPart(c, packagesResource("providers"), nil, isOurPackage, &f.Providers)(ctx)
	return diagnosis.OldClientWarning(version, f.Providers.Items)
}

func (c *Cluster) versionTasks(f *diagnosis.Facts) []task {
	return []task{
		readPart(c, deploymentsResource(), labels.Set{"app": "crossplane"}, matchesAny, &f.Crossplane),
		readPart(c, packagesResource("configurations"), nil, isOurPackage, &f.Configurations),
		readPart(c, packagesResource("functions"), nil, isOurPackage, &f.Functions),
		readPart(c, packagesResource("providers"), nil, isOurPackage, &f.Providers),
	}
}

// imageTask reads how Crossplane names images, and how it runs them.
func (c *Cluster) imageTask(f *diagnosis.Facts) task {
	resource := schema.GroupVersionResource{Group: "pkg.crossplane.io", Version: "v1beta1", Resource: "imageconfigs"}
	return readPart(c, resource, nil, matchesAny, &f.Images)
}

func (c *Cluster) readServerVersion(f *diagnosis.Facts) {
	v, err := c.server.ServerVersion()
	if err != nil {
		f.Kubernetes.Unread = &cause.Unread{Object: "version of the API server", Reason: describeUnread(err, schema.GroupVersionResource{}).Reason}
		return
	}
	f.Kubernetes.Items = []string{v.GitVersion}
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

// hasOurGroup is true for objects that are named after a group of ours.
func hasOurGroup(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(o.GetName(), product+".dev")
}

// readPart returns a task that reads the objects of a resource in all namespaces, as far as they are wanted.
func readPart[T any](c *Cluster, r schema.GroupVersionResource, selector labels.Set, isWanted func(*unstructured.Unstructured) bool, into *diagnosis.Part[T]) task {
	return func(ctx context.Context) {
		err := c.visitPages(ctx, r, AllNamespaces, selector, func(page []unstructured.Unstructured) {
			for i := range page {
				if isWanted(&page[i]) {
					addDecodedItem(into, &page[i], r)
				}
			}
		})
		if err != nil {
			unread := describeUnread(err, r)
			into.Unread, into.IsAbsent = &unread, unknownKind(err)
		}
	}
}

// addDecodedItem decodes an object, without the files that a GitDelivery delivers to its repository: they may be large.
func addDecodedItem[T any](into *diagnosis.Part[T], o *unstructured.Unstructured, r schema.GroupVersionResource) {
	trimForProvider(o)
	var item T
	if err := decodeObject(o, &item); err != nil {
		into.Unread = &cause.Unread{Object: r.GroupResource().String() + "/" + o.GetName(), Reason: err.Error()}
		return
	}
	into.Items = append(into.Items, item)
}

// trimForProvider leaves of spec.forProvider the names of the Sites that a GitDelivery has trees for.
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
func (c *Cluster) findAccount(ctx context.Context, f *diagnosis.Facts, otherwise diagnosis.Account) diagnosis.Account {
	namespace := leaseNamespace
	for _, w := range f.Crossplane.Items {
		namespace = w.Metadata.Namespace
	}
	items, err := c.list(ctx, deploymentsResource(), namespace)
	if err != nil {
		return otherwise
	}
	for i := range items {
		name, _, _ := unstructured.NestedString(items[i].Object, "spec", "template", "spec", "serviceAccountName")
		if name != "" && isOfProvider(&items[i], f.Providers.Items) {
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

// askRights asks for each right, of the account, or of the user if there is none.
func (c *Cluster) askRights(ctx context.Context, f *diagnosis.Facts, rights []diagnosis.Right) {
	f.Allowed = map[diagnosis.Right]bool{}
	mu := sync.Mutex{}
	var all []task
	for _, r := range rights {
		all = append(all, func(ctx context.Context) {
			allowed, err := c.reviewAccess(ctx, f.Account, r)
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
	runTasks(ctx, all...)
}

func reviewsResource(account diagnosis.Account) schema.GroupVersionResource {
	if account.Name == "" {
		return authorizationv1.SchemeGroupVersion.WithResource("selfsubjectaccessreviews")
	}
	return authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews")
}

// reviewAccess asks whether an account has a right in all namespaces.
func (c *Cluster) reviewAccess(ctx context.Context, account diagnosis.Account, r diagnosis.Right) (bool, error) {
	kind := "SelfSubjectAccessReview"
	spec := map[string]any{"resourceAttributes": map[string]any{"verb": r.Verb, "group": r.Group, "resource": r.Resource}}
	if account.Name != "" {
		kind = "SubjectAccessReview"
		spec["user"] = "system:serviceaccount:" + account.Namespace + ":" + account.Name
		spec["groups"] = []any{"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace, "system:authenticated"}
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": authorizationv1.SchemeGroupVersion.String(), "kind": kind, "spec": spec}}
	answer, err := c.client.Resource(reviewsResource(account)).Create(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}
