package sitesync

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/panics"
	"github.com/intentplane/intentplane/provider/proof"
	"github.com/intentplane/intentplane/provider/usage"
)

// maxAtOnce is how many Sites are asked at the same time.
const maxAtOnce = 16

// An objectReader reads an object of a cluster, from a watch or from its API server.
type objectReader func(context.Context, engines.Ref) (*unstructured.Unstructured, error)

// A reading has the objects of one Site's engine, for later requests to it.
type reading struct {
	cluster      *clusters.Cluster
	engine       catalogv1alpha1.EngineType
	main, second *unstructured.Unstructured
	// isDelivered is true if the claim has a GitDelivery for the directory, and delivered is the commit with which it brought its repository to the position.
	isDelivered bool
	delivered   string
	// archives are the files that the claim's GitDeliveries have for the directory.
	archives [][]byte
	// repository that holds the directory.
	repository repository
}

// gatherFacts gathers the facts about a SiteSync. It returns an error if the control plane's API server cannot be asked.
func (e *external) gatherFacts(ctx context.Context, s *v1alpha1.SiteSync) (proof.Facts, error) {
	f := proof.Facts{
		Namespace: s.GetNamespace(),
		Spec:      s.Spec.ForProvider,
		Last:      *s.Status.AtProvider.DeepCopy(),
		Now:       e.now(),
	}
	if e.note.draft != nil {
		f.Draft = e.note.draft.decision.Next
	}
	if f.Spec.ClaimRef.Namespace != f.Namespace {
		f.Sites, e.readings = make([]proof.SiteFacts, len(f.Spec.Sites)), make([]reading, len(f.Spec.Sites))
		return f, nil // Nothing is read for another namespace.
	}
	ds, err := usage.OfClaim(ctx, e.kube, f.Spec.ClaimRef)
	if err != nil {
		return proof.Facts{}, err
	}
	f.Spec, f.IsAhead = mandate.FollowLedger(s, ds)
	f.Sites, e.readings = make([]proof.SiteFacts, len(f.Spec.Sites)), make([]reading, len(f.Spec.Sites))
	e.request = requestDigest(ds, f.Spec.AskedPosition())
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxAtOnce)
	for i, want := range f.Spec.Sites {
		if want.Wave > f.Spec.AskedPosition().Step {
			continue
		}
		f.Sites[i].Undelivered, e.readings[i].delivered = isUndelivered(ds, f.Spec, want)
		f.Sites[i].Absent, e.readings[i].isDelivered = isTreeAbsent(ds, want), len(deliveriesFor(ds, want)) > 0
		e.readings[i].archives = archivesFor(ds, want)
		g.Go(func() error {
			return panics.Recover("read a Site", func() error { return e.readSiteFacts(ctx, f, want, &f.Sites[i], &e.readings[i]) })
		})
	}
	return f, g.Wait()
}

// requestDigest returns the digest of the request of the asked revision, from the ledger that one of the claim's GitDeliveries holds or has a copy of, or "".
func requestDigest(ds []v1alpha1.GitDelivery, requested ledger.Position) string {
	for _, d := range ds {
		observation := d.Status.AtProvider
		states := []*ledger.State{observation.Ledger}
		if observation.Record != nil {
			states = append(states, observation.Record.Copy)
		}
		for _, s := range states {
			if s == nil || s.Epoch != requested.Epoch {
				continue
			}
			if digest := s.RequestDigest(requested.Revision); digest != "" {
				return digest
			}
		}
	}
	return ""
}

// isUndelivered is true if a GitDelivery of the claim has the directory, and its repository has not recorded the position. It returns
// the commit of a GitDelivery that has delivered the position. Who makes a SiteSync by hand needs no GitDelivery.
func isUndelivered(ds []v1alpha1.GitDelivery, spec v1alpha1.SiteSyncParameters, want v1alpha1.SiteTree) (bool, string) {
	if want.Tree == "" {
		return true, "" // The directory has not come to the position.
	}
	for _, d := range deliveriesFor(ds, want) {
		observation := d.Status.AtProvider
		if !hasDeliveredTree(d, spec.AskedPosition(), want) {
			return true, ""
		}
		if observation.Remote != nil {
			return false, observation.Remote.Commit
		}
	}
	return false, ""
}

// hasDeliveredTree is true if a GitDelivery has delivered the trees that a position requests at a Site. A step that changes no tree there changes
// no record, so the position of the Site's own step is enough if the tree is there.
func hasDeliveredTree(d v1alpha1.GitDelivery, requested ledger.Position, want v1alpha1.SiteTree) bool {
	applied := d.Status.AtProvider.AppliedPosition()
	return applied.HasReached(requested) || applied.IsSameAttempt(requested) && applied.Step >= want.Wave && !isTreeAbsent([]v1alpha1.GitDelivery{d}, want)
}

// isTreeAbsent is true if a GitDelivery of the claim has the directory, and has not delivered the tree there, even if it applied the
// position: a directory is kept as it is while the Site's cluster is not ready, at the same position.
func isTreeAbsent(ds []v1alpha1.GitDelivery, want v1alpha1.SiteTree) bool {
	ds = deliveriesFor(ds, want)
	return len(ds) > 0 && !slices.ContainsFunc(ds[0].Status.AtProvider.Trees, func(t v1alpha1.DeliveredTree) bool { return t.Path == want.Path && t.Tree == want.Tree })
}

// archivesFor returns the files that GitDeliveries of the claim have for a directory.
func archivesFor(ds []v1alpha1.GitDelivery, want v1alpha1.SiteTree) [][]byte {
	var out [][]byte
	for _, d := range ds {
		for t := range d.Spec.ForProvider.EachTree() {
			if t.Path == want.Path && len(t.Files) > 0 {
				out = append(out, t.Files)
			}
		}
	}
	return out
}

// deliveriesFor returns the GitDeliveries that have the directory, now or in a later step. A Site that moves to another repository has one in each, until the
// new revision is verified; until then, only the GitDelivery to the repository that proves the Site counts.
func deliveriesFor(ds []v1alpha1.GitDelivery, want v1alpha1.SiteTree) []v1alpha1.GitDelivery {
	all, matching := []v1alpha1.GitDelivery{}, []v1alpha1.GitDelivery{}
	for _, d := range ds {
		if !deliversTree(d, want) {
			continue
		}
		all = append(all, d)
		if ref := d.GetProviderConfigReference(); ref != nil && ref.Kind == want.RepositoryRef.Kind && ref.Name == want.RepositoryRef.Name {
			matching = append(matching, d)
		}
	}
	if len(matching) > 0 {
		return matching
	}
	return all
}

func deliversTree(d v1alpha1.GitDelivery, want v1alpha1.SiteTree) bool {
	for t := range d.Spec.ForProvider.EachTree() {
		if t.Site == want.Name && t.Path == want.Path {
			return true
		}
	}
	return false
}

// readSiteFacts reads one Site, its engine, and the content of the commits that the engine names.
func (e *external) readSiteFacts(ctx context.Context, f proof.Facts, want v1alpha1.SiteTree, s *proof.SiteFacts, r *reading) error {
	repo, err := e.readAllowedSite(ctx, f, want, s)
	if r.repository = repo; err != nil || s.Denied != "" {
		return err
	}
	if s.Site.Spec.Cluster.ClusterRef != nil {
		s.Undelivered = s.Undelivered || s.Absent
		if s.Cluster, err = e.readCluster(ctx, s.Site, f.LatchedInitialized(want.Name)); err != nil {
			return err
		}
	}
	if f.IsAwaitingCluster(want, *s) || s.Site.Spec.Engine.Type == catalogv1alpha1.EngineNone || s.Undelivered {
		return nil
	}
	if s.Problem, err = e.readEngineObjects(ctx, f, s.Site, r); err != nil || s.Problem != nil {
		return err
	}
	s.Engine = engines.Observe(r.engine, newEngineWant(repo, s.Site, want), r.main, r.second)
	s.StalledSince = engines.StalledSince(r.engine, r.main)
	if s.Engine.URL != repo.spec.Git.URL {
		s.Mirror = s.Engine.URL
	}
	if s.Engine.Reason == "" || s.Engine.StillApplied || s.Engine.Reason == v1alpha1.SiteReasonUnhealthy {
		s.Applied = e.prover.readSubtree(ctx, repo, s.Engine.Commit, s.Engine.Root, want.Path)
	}
	if r.isDelivered && want.Traffic != nil && len(want.Traffic.Routes) == 0 && s.Applied.Unknown == "" {
		s.Applied.Unknown = e.prover.addTrackFiles(ctx, repo, want, r.delivered)
	}
	if s.Engine.Reason == "" && s.Applied.ID == want.Tree {
		s.Coverage = e.prover.readCoverage(ctx, repo, want, s, r.archives)
	}
	if s.Engine.FinalFailure {
		s.Attempted = e.prover.readSubtree(ctx, repo, s.Engine.Attempted, s.Engine.Root, want.Path)
	}
	if want.Traffic != nil && s.Applied.ID == want.Tree {
		s.Gap = e.prover.readCommitGap(ctx, repo, f, want, s.Engine.Commit, r.delivered)
	}
	if want.Traffic != nil {
		s.Traffic, s.Failure, err = e.readTraffic(ctx, f, want, *s, r)
		return err
	}
	return e.readFailure(ctx, f, want, s, r)
}

// readAllowedSite reads the Site and the repository from the API server, and trusts no copy in the SiteSync.
func (e *external) readAllowedSite(ctx context.Context, f proof.Facts, want v1alpha1.SiteTree, s *proof.SiteFacts) (repository, error) {
	site := &catalogv1alpha1.Site{}
	site.SetName(want.Name)
	err := e.kube.Get(ctx, client.ObjectKey{Name: want.Name}, site)
	if client.IgnoreNotFound(err) != nil {
		return repository{}, errors.Wrapf(err, "cannot get Site %q", want.Name)
	}
	// A missing Site allows no namespace.
	if err := policy.CheckSite(site, f.Namespace); err != nil {
		s.Denied = err.Error()
		return repository{}, nil //nolint:nilerr // A refusal is an answer.
	}
	s.Site = site
	repo, denial, err := repositoryOf(ctx, e.kube, want.RepositoryRef, f.Namespace)
	if s.Denied = denial; err != nil || denial != "" {
		return repository{}, err
	}
	dir := policy.Directory(repo.spec.Git.PathPrefix, site.Spec.Repository.Path, f.Namespace, f.Spec.ClaimRef.Name)
	if want.Path != dir {
		s.Denied = "path: it is not the claim's directory at the Site, which is " + dir
	}
	return repo, nil
}

func newEngineWant(r repository, site *catalogv1alpha1.Site, want v1alpha1.SiteTree) engines.Want {
	return engines.Want{
		URL: r.spec.Git.URL, Branch: r.spec.Git.Branch,
		SiteDir: path.Join(r.spec.Git.PathPrefix, site.Spec.Repository.Path), ClaimDir: want.Path,
		Elsewhere:  onControlPlane(site) && site.Spec.Cluster.ControlPlane == nil,
		HasFolders: want.Traffic != nil && site.Spec.Repository.Layout == catalogv1alpha1.LayoutManifests,
	}
}

func onControlPlane(site *catalogv1alpha1.Site) bool {
	return site.Spec.Engine.Location == "ControlPlane"
}

// readEngineObjects reads the engine's objects. It returns a problem if they cannot be read, and an error if our own API server does not
// answer.
func (e *external) readEngineObjects(ctx context.Context, f proof.Facts, site *catalogv1alpha1.Site, r *reading) (*proof.Problem, error) {
	r.engine = site.Spec.Engine.Type
	if site.Spec.Engine.ObjectRef == nil {
		return &proof.Problem{Reason: v1alpha1.SiteReasonEngineNotProvable, Message: "the Site names no object of its engine: set spec.engine.objectRef"}, nil
	}
	ref, err := engines.PrimaryRef(r.engine, fillPlaceholders(*site.Spec.Engine.ObjectRef, site, f.Spec))
	if err != nil {
		return &proof.Problem{Reason: v1alpha1.SiteReasonEngineNotProvable, Message: err.Error()}, nil //nolint:nilerr // It is the Site's problem.
	}
	var p *proof.Problem
	if r.cluster, p, err = e.connectCluster(ctx, site); err != nil || p != nil {
		return p, err
	}
	if r.main, p = readWatchedObject(ctx, r.cluster, ref); p != nil {
		return p, nil
	}
	if r.main == nil {
		message := ref.String() + " does not exist: create it, or name another object in spec.engine.objectRef of the Site"
		return &proof.Problem{Reason: v1alpha1.SiteReasonEngineObjectMissing, Message: message}, nil
	}
	if second, ok := engines.SecondaryRef(r.engine, r.main); ok {
		r.second, p = readWatchedObject(ctx, r.cluster, second)
	}
	return p, nil
}

// fillPlaceholders replaces the placeholders of a reference.
func fillPlaceholders(ref catalogv1alpha1.ObjectReference, site *catalogv1alpha1.Site, spec v1alpha1.SiteSyncParameters) catalogv1alpha1.ObjectReference {
	r := strings.NewReplacer("{site}", site.GetName(), "{claimNamespace}", spec.ClaimRef.Namespace, "{claimName}", spec.ClaimRef.Name)
	ref.Namespace, ref.Name = r.Replace(ref.Namespace), r.Replace(ref.Name)
	return ref
}

// readWatchedObject reads an object from a watch.
func readWatchedObject(ctx context.Context, c *clusters.Cluster, ref engines.Ref) (*unstructured.Unstructured, *proof.Problem) {
	return readClusterObject(ctx, c.Get, ref)
}

// readClusterObject reads an object, or returns the reason why the object is unreadable.
func readClusterObject(ctx context.Context, read objectReader, ref engines.Ref) (*unstructured.Unstructured, *proof.Problem) {
	o, err := read(ctx, ref)
	var failure *clusters.Error
	if errors.As(err, &failure) {
		return nil, &proof.Problem{Reason: failure.Reason, Message: ref.String() + ": " + failure.Detail}
	}
	return o, nil
}

// connectCluster returns the cluster that the engine's object is in.
func (e *external) connectCluster(ctx context.Context, site *catalogv1alpha1.Site) (*clusters.Cluster, *proof.Problem, error) {
	if onControlPlane(site) {
		c, err := e.look.Home()
		return c, nil, err
	}
	return e.connectTarget(ctx, site)
}

// connectTarget returns the cluster that the Site's objects are in.
func (e *external) connectTarget(ctx context.Context, site *catalogv1alpha1.Site) (*clusters.Cluster, *proof.Problem, error) {
	c, err := setup.ConnectSite(ctx, e.kube, e.look, site)
	var refused *clusters.Error
	if errors.As(err, &refused) {
		return nil, &proof.Problem{Reason: refused.Reason, Message: refused.Detail}, nil
	}
	return c, nil, err
}
