package cluster

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
	"github.com/intentplane/intentplane/function/compose"
)

const clusterResource = "workloadclusters"

func clustersInGroup(group string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: clusterResource}
}

// Subjects are Bundles, Applications, deployments and clusters, with their composed objects, as far as they could be read.
type Subjects struct {
	Bundles      []*cause.BundleFacts
	Applications []*cause.ApplicationFacts
	Deployments  []*cause.Facts
	Clusters     []*cause.ClusterFacts

	// Beneath is the result of ReadBeneath, with the objects that All could not read.
	Beneath Beneath

	// Failure names the kinds that were not read to their end, unless the user may not list them or the cluster does not have them. Nil if there are none.
	Failure error
}

// countSubjects counts all.
func (s *Subjects) countSubjects() int {
	return len(s.Bundles) + len(s.Applications) + len(s.Deployments) + len(s.Clusters)
}

// Subject returns the objects of a name: "shop", "intentdeployments.intentplane.dev/shop" or "workloadclusters/shop". It returns an error
// when nothing has it.
func (c *Cluster) Subject(ctx context.Context, name string) (*Subjects, error) {
	return reader{Source: c.api, namespace: c.namespace}.findSubjects(ctx, name)
}

// All returns the Bundles, Applications, deployments and clusters of a namespace, or of AllNamespaces, without their composed objects but the
// deployments of Applications. It notes the kinds that the user may not list, and the objects that cannot be decoded. It returns an error
// when no kind can be listed.
func (c *Cluster) All(ctx context.Context, namespace string) (*Subjects, error) {
	return reader{Source: c.api, namespace: namespace}.readAllSubjects(ctx)
}

// A reader makes facts of objects.
type reader struct {
	server.Source

	namespace string
}

// A lookup names the objects to find: resources, and the name of an object.
type lookup struct {
	resources []schema.GroupVersionResource
	name      string
}

// parseLookupName returns the lookups of a name. Deployments are read where no Application has the name, clusters where no deployment has it, and
// Bundles where no cluster has it, unless the name has a kind.
func parseLookupName(name string) lookup {
	out := lookup{name: name}
	resource, group := "", ""
	if kind, rest, ok := strings.Cut(name, "/"); ok {
		resource, group, _ = strings.Cut(kind, ".")
		out.name = rest
	}
	for _, kind := range []struct {
		prefix string
		in     func(group string) schema.GroupVersionResource
	}{{"application", applicationsInGroup}, {"intent", claimsInGroup}, {"workload", clustersInGroup}, {"bundle", bundlesInGroup}} {
		for _, g := range claimGroups() {
			if (group == "" || g == group) && (!isKnownResource(resource) || strings.HasPrefix(resource, kind.prefix)) {
				out.resources = append(out.resources, kind.in(g))
			}
		}
	}
	return out
}

// isKnownResource is true for the resource of a kind that is known here. Any other one stands for all.
func isKnownResource(resource string) bool {
	return slices.ContainsFunc([]string{"application", "intent", "workload", "bundle"}, func(prefix string) bool { return strings.HasPrefix(resource, prefix) })
}

func (r reader) findSubjects(ctx context.Context, name string) (*Subjects, error) {
	l, out := parseLookupName(name), &Subjects{}
	var missing error
	var unread []cause.Unread
	isServed := false
	for i, resource := range l.resources {
		if i > 0 && l.resources[i-1].Resource != resource.Resource && out.countSubjects() > 0 {
			break
		}
		o, err := r.Get(ctx, resource, r.namespace, l.name)
		switch {
		case server.IsUnknownKind(err):
			missing = server.DescribeError(err, "get", resource, l.name)
			continue
		case server.IsNotFound(err):
			isServed = true
			continue
		case kerrors.IsForbidden(err) && resource.Resource != claimResource:
			// A deployment says nearly as much as the Application that composed it. The object may be of another kind.
			unread = append(unread, describeUnread(err, resource))
			continue
		case err != nil:
			return nil, server.DescribeError(err, "get", resource, l.name)
		}
		if err := r.addWithComposed(ctx, out, resource, server.Decoded(o)); err != nil {
			return nil, errors.Wrapf(err, "%s/%s", resource.GroupResource(), l.name)
		}
	}
	if out.countSubjects() > 0 {
		out.noteUnread(unread)
		return out, nil
	}
	if missing != nil && !isServed {
		return nil, missing
	}
	return nil, describeAbsence(r.namespace, l.name, unread)
}

// describeAbsence returns the error that no object has a name, with the unreadable kinds that may have it.
func describeAbsence(namespace, name string, unread []cause.Unread) error {
	err := errors.Errorf("namespace %q has no Application, no IntentDeployment, no WorkloadCluster and no Bundle %q", namespace, name)
	for _, u := range unread {
		err = errors.Errorf("%w; not read: %s: %s", err, u.Object, u.Reason)
	}
	return err
}

// noteFailure remembers why the list of a kind is missing or not complete. The right to a list, or the kind itself, may be missing for good.
func (s *Subjects) noteFailure(resource schema.GroupVersionResource, err error) {
	s.Beneath.Unread = append(s.Beneath.Unread, describeUnread(err, resource))
	if !kerrors.IsForbidden(err) && !server.IsUnknownKind(err) {
		s.Failure = errors.Join(s.Failure, server.DescribeError(err, "list", resource, ""))
	}
}

// noteUnread records unreadable objects with each deployment, cluster and Bundle.
func (s *Subjects) noteUnread(unread []cause.Unread) {
	for _, f := range s.Deployments {
		f.Unread = append(f.Unread, unread...)
	}
	for _, f := range s.Clusters {
		f.Unread = append(f.Unread, unread...)
	}
	for _, f := range s.Bundles {
		f.Unread = append(f.Unread, unread...)
	}
}

// addWithComposed adds an object with its composed objects.
func (r reader) addWithComposed(ctx context.Context, subjects *Subjects, resource schema.GroupVersionResource, o server.Object) error {
	switch resource.Resource {
	case bundleResource:
		return addSubjectFacts(o, bundleFacts, &subjects.Bundles, func(f *cause.BundleFacts) { r.readBundle(ctx, f) })
	case applicationResource:
		return addSubjectFacts(o, applicationFacts, &subjects.Applications, func(f *cause.ApplicationFacts) { r.readApplication(ctx, f) })
	case clusterResource:
		return addSubjectFacts(o, clusterFacts, &subjects.Clusters, func(f *cause.ClusterFacts) { r.readManaged(ctx, f) })
	}
	return addSubjectFacts(o, deploymentFacts, &subjects.Deployments, func(f *cause.Facts) { r.readComposed(ctx, f) })
}

// addSubjectFacts makes facts of an object, completes and adds them.
func addSubjectFacts[F any](o server.Object, factsOf func(server.Object) (*F, error), target *[]*F, complete func(*F)) error {
	f, err := factsOf(o)
	if err != nil {
		return err
	}
	complete(f)
	*target = append(*target, f)
	return nil
}

// subjectResources are the resources that users create, in a group.
func subjectResources(group string) []schema.GroupVersionResource {
	return []schema.GroupVersionResource{applicationsInGroup(group), claimsInGroup(group), clustersInGroup(group), bundlesInGroup(group)}
}

// readAllSubjects lists the kinds at the same time, and makes facts of some objects while others are on their way.
func (r reader) readAllSubjects(ctx context.Context) (*Subjects, error) {
	var resources []schema.GroupVersionResource
	for _, g := range claimGroups() {
		resources = append(resources, subjectResources(g)...)
	}
	found, failures := make([]*Subjects, len(resources)), make([]error, len(resources))
	var group sync.WaitGroup
	for i, resource := range resources {
		group.Go(func() { found[i], failures[i] = r.listSubjects(ctx, resource) })
	}
	group.Wait()
	out, isRead := &Subjects{}, false
	var failed error
	for i, resource := range resources {
		out.mergeSubjects(found[i])
		switch err := failures[i]; {
		case err == nil:
			isRead = true
		case server.IsUnknownKind(err):
			failed = cmp.Or(failed, server.DescribeError(err, "list", resource, ""))
		default:
			failed = server.DescribeError(err, "list", resource, "")
			out.noteFailure(resource, err)
		}
	}
	if !isRead && out.countSubjects() == 0 {
		return nil, failed
	}
	out.nestDeployments()
	return out, nil
}

// listSubjects returns the objects that users made of one kind, in the order of the list. It notes objects that cannot be decoded. If it
// returns an error, the list broke off behind the objects that it also returns.
func (r reader) listSubjects(ctx context.Context, resource schema.GroupVersionResource) (*Subjects, error) {
	var chunks []*Subjects
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	err := r.VisitObjects(ctx, resource, r.namespace, func(all []server.Object) {
		chunk := &Subjects{}
		chunks = append(chunks, chunk)
		group.Go(func() error {
			chunk.addAllSubjects(resource, all)
			return nil
		})
	})
	_ = group.Wait()
	out := &Subjects{}
	for _, chunk := range chunks {
		out.mergeSubjects(chunk)
	}
	return out, err
}

// mergeSubjects adds subjects that were read elsewhere.
func (s *Subjects) mergeSubjects(added *Subjects) {
	s.Bundles, s.Applications = append(s.Bundles, added.Bundles...), append(s.Applications, added.Applications...)
	s.Deployments, s.Clusters = append(s.Deployments, added.Deployments...), append(s.Clusters, added.Clusters...)
	s.Beneath.Unread = append(s.Beneath.Unread, added.Beneath.Unread...)
}

// addAllSubjects adds objects, and notes undecodable ones: one of them hides no other.
func (s *Subjects) addAllSubjects(resource schema.GroupVersionResource, all []server.Object) {
	for _, o := range all {
		if err := s.addOneSubject(resource, o); err != nil {
			s.Beneath.Unread = append(s.Beneath.Unread, cause.Unread{Object: resource.GroupResource().String() + "/" + o.Name(), Reason: err.Error()})
		}
	}
}

func (s *Subjects) addOneSubject(resource schema.GroupVersionResource, o server.Object) error {
	switch resource.Resource {
	case bundleResource:
		return addSubjectFacts(o, bundleFacts, &s.Bundles, func(*cause.BundleFacts) {})
	case applicationResource:
		return addSubjectFacts(o, applicationFacts, &s.Applications, func(*cause.ApplicationFacts) {})
	case clusterResource:
		return addSubjectFacts(o, clusterFacts, &s.Clusters, func(*cause.ClusterFacts) {})
	}
	return addSubjectFacts(o, deploymentFacts, &s.Deployments, func(*cause.Facts) {})
}

// decodeWithDigest decodes an object, and returns the digest of its spec.
func decodeWithDigest(o server.Object, into any, digestOf func() (string, error)) (string, error) {
	if err := o.Decode(into); err != nil {
		return "", err
	}
	out, err := digestOf()
	return out, errors.Wrap(err, "cannot compute the digest of the spec")
}

func deploymentFacts(o server.Object) (*cause.Facts, error) {
	f := &cause.Facts{}
	var err error
	f.SpecDigest, err = decodeWithDigest(o, &f.Deployment, func() (string, error) { return digest.Spec(&f.Deployment.Spec.IntentDeploymentSpec) })
	return f, err
}

func clusterFacts(o server.Object) (*cause.ClusterFacts, error) {
	f := &cause.ClusterFacts{}
	var err error
	f.SpecDigest, err = decodeWithDigest(o, &f.Cluster, func() (string, error) { return digest.Cluster(&f.Cluster.Spec.WorkloadClusterSpec) })
	return f, err
}

// composedResources are the composed resources of a deployment, and its requests.
func composedResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		deliveryv1alpha1.GroupVersion.WithResource("gitdeliveries"), deliveryv1alpha1.GroupVersion.WithResource("sitesyncs"),
		rolloutv1alpha1.GroupVersion.WithResource("gates"), requestsResource(),
	}
}

// readComposed reads the composed objects of a deployment, and its requests.
func (r reader) readComposed(ctx context.Context, f *cause.Facts) {
	d, resources := &f.Deployment, composedResources()
	owner := rolloutv1alpha1.ClaimReference{
		APIGroup: schema.FromAPIVersionAndKind(d.APIVersion, d.Kind).Group, Kind: d.Kind, Namespace: d.Metadata.Namespace, Name: d.Metadata.Name,
	}
	selector := labels.Set{compose.LabelClaim: owner.Name}
	f.Deliveries = readOwnedObjects(ctx, r, f, resources[0], selector, func(o *deliveryv1alpha1.GitDelivery) bool { return o.Spec.ForProvider.ClaimRef == owner })
	f.Syncs = readOwnedObjects(ctx, r, f, resources[1], selector, func(o *deliveryv1alpha1.SiteSync) bool { return o.Spec.ForProvider.ClaimRef == owner })
	f.Gates = readOwnedObjects(ctx, r, f, resources[2], selector, func(o *rolloutv1alpha1.Gate) bool { return o.Spec.ForProvider.ClaimRef == owner })
	f.Requests = readOwnedObjects(ctx, r, f, resources[3], nil, func(o *rolloutv1alpha1.RolloutRequest) bool {
		return o.Spec.DeploymentRef == owner.DeploymentRef()
	})
}

// readOwnedObjects returns the objects of a deployment. Unreadable objects are noted.
func readOwnedObjects[T any](ctx context.Context, r reader, f *cause.Facts, resource schema.GroupVersionResource, selector labels.Set, isOwned func(*T) bool) []T {
	items, err := server.ListAll(ctx, r, resource, f.Deployment.Metadata.Namespace, selector)
	if err != nil {
		f.Unread = append(f.Unread, describeUnread(err, resource))
		if server.IsUnknownKind(err) {
			f.Installed.Missing = append(f.Installed.Missing, resource.GroupResource().String())
		}
		return nil
	}
	var out []T
	for i := range items {
		var o T
		if err := server.Decode(&items[i], &o); err != nil {
			f.Unread = append(f.Unread, cause.Unread{Object: resource.GroupResource().String() + "/" + items[i].GetName(), Reason: err.Error()})
			continue
		}
		if isOwned(&o) {
			out = append(out, o)
		}
	}
	return out
}

// describeUnread names an unreadable resource, with the cause in few words.
func describeUnread(err error, resource schema.GroupVersionResource) cause.Unread {
	return cause.Unread{Object: resource.GroupResource().String(), Reason: server.UnreadReason(err)}
}

// readManaged reads the ManagedCluster of a WorkloadCluster.
func (r reader) readManaged(ctx context.Context, f *cause.ClusterFacts) {
	name := f.Cluster.Status.ManagedCluster
	if name == "" {
		return
	}
	resource := managedResource()
	o, err := r.Get(ctx, resource, f.Cluster.Metadata.Namespace, name)
	m := &clusterv1alpha1.ManagedCluster{}
	if err == nil {
		err = server.Decode(o, m)
	}
	switch {
	case server.IsNotFound(err):
	case err != nil:
		f.Unread = append(f.Unread, describeUnread(err, resource))
	default:
		f.Managed = m
	}
}

func managedResource() schema.GroupVersionResource {
	return clusterv1alpha1.GroupVersion.WithResource("managedclusters")
}
