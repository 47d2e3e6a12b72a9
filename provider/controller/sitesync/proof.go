package sitesync

import (
	"cmp"
	"context"
	"path"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/singleflight"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/manifest"
	"github.com/intentplane/intentplane/provider/proof"
	gitrepo "github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/tenantcache"
)

const (
	// maxAnswersBytes and maxCommitsBytes bound the caches: the content of a commit at a path never changes, and fits into a line; a commit
	// itself may have many trees: the largest that a server may send fits, since all directories of a claim are looked for in it.
	maxAnswersBytes = 8 << 20
	maxCommitsBytes = 96 << 20

	// trackFilesBytes is about how much memory the routes and the Deployments of a directory take.
	trackFilesBytes = 4 << 10

	fetchTimeout = 30 * time.Second
)

// A repository identifies the repository of a configuration.
type repository struct {
	// key distinguishes repositories. Credentials that may not read one get no answer that other credentials brought.
	key string
	// config and namespace of the configuration. The namespace is empty for a ClusterProviderConfig.
	kind, namespace string
	spec            *configv1alpha1.ProviderConfigSpec
	// tenant is the namespace of the SiteSync, whose share of memory pays for the caches.
	tenant string
}

// repositoryOf returns the repository that a reference names, as seen from a namespace. It returns a message if that may not use
// it, or there is none.
func repositoryOf(ctx context.Context, r client.Reader, ref v1alpha1.RepositoryReference, namespace string) (repository, string, error) {
	out := repository{kind: ref.Kind, tenant: namespace}
	var (
		o    client.Object
		spec *configv1alpha1.ProviderConfigSpec
	)
	switch ref.Kind {
	case policy.KindProviderConfig:
		c := &configv1alpha1.ProviderConfig{}
		o, spec, out.namespace = c, &c.Spec, namespace
	default:
		c := &configv1alpha1.ClusterProviderConfig{}
		o, spec, out.kind = c, &c.Spec, policy.KindClusterProviderConfig
	}
	err := r.Get(ctx, client.ObjectKey{Namespace: out.namespace, Name: ref.Name}, o)
	if kerrors.IsNotFound(err) {
		return repository{}, out.kind + " " + ref.Name + " does not exist", nil
	}
	if err != nil {
		return repository{}, "", errors.Wrapf(err, "cannot get %s %q", out.kind, ref.Name)
	}
	if err := policy.CheckConfig(out.kind, spec, namespace); err != nil {
		return repository{}, err.Error(), nil //nolint:nilerr // A refusal is an answer.
	}
	out.spec = spec
	out.key = out.kind + "/" + out.namespace + "/" + ref.Name + " " + spec.Git.URL
	return out, "", nil
}

// A prover reads the content of commits. It computes the expiry of credentials with its clock. It is safe for concurrent use.
type prover struct {
	kube  client.Reader
	now   func() time.Time
	guard address.Guard
	// pool of the repositories, which deliveries share: proofs have the same shares of hosts and of memory.
	pool    *gitrepo.Pool
	answers *tenantcache.Cache[proof.Subtree]
	gaps    *tenantcache.Cache[proof.Gap]
	commits *tenantcache.Cache[*git.Commit]
	// manifests are the objects of directories, and tracks the routes and the Deployments of directories with tracks.
	manifests *manifest.Reader
	tracks    *tenantcache.Cache[directories.TrackFiles]
	fetches   singleflight.Group
}

func newProver(kube client.Reader, now func() time.Time, g address.Guard, pool *gitrepo.Pool) *prover {
	return &prover{
		kube: kube, now: now, guard: g, pool: pool,
		answers: tenantcache.New[proof.Subtree](maxAnswersBytes), gaps: tenantcache.New[proof.Gap](maxAnswersBytes), commits: tenantcache.New[*git.Commit](maxCommitsBytes),
		manifests: manifest.NewReader(), tracks: tenantcache.New[directories.TrackFiles](maxAnswersBytes),
	}
}

// readSubtree returns the content of a commit in a directory, of which the engine reads root. An empty commit holds nothing.
func (p *prover) readSubtree(ctx context.Context, r repository, commit, root, dir string) proof.Subtree {
	if commit == "" {
		return proof.Subtree{}
	}
	key := r.key + " " + commit + " " + root + " " + dir
	if cached, ok := p.answers.Get(key); ok {
		return cached
	}
	c, err := p.rememberedCommit(ctx, r, commit)
	if err != nil {
		return proof.Subtree{Unknown: err.Error()}
	}
	s, err := readCommitSubtree(ctx, c, root, dir)
	if err != nil {
		return proof.Subtree{Unknown: err.Error()}
	}
	p.answers.Put(r.tenant, key, s, len(s.ID))
	return s
}

// rememberedCommit returns a commit from the cache, or fetches it once for all concurrent readers.
func (p *prover) rememberedCommit(ctx context.Context, r repository, id string) (*git.Commit, error) {
	key := r.key + " " + id
	if cached, ok := p.commits.Get(key); ok {
		return cached.Open(), nil
	}
	v, err, _ := p.fetches.Do(key, func() (any, error) {
		// The first caller may give up; the other callers still wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		return p.fetchCommit(ctx, r, id)
	})
	c, isCommit := v.(*git.Commit)
	if err != nil || !isCommit {
		return nil, err
	}
	p.commits.Put(r.tenant, key, c.Closed(), c.Size())
	return c.Open(), nil
}

// fetchCommit fetches a commit. A repeated request after a failure fails without I/O until the backoff ends.
func (p *prover) fetchCommit(ctx context.Context, r repository, id string) (*git.Commit, error) {
	shared, err := p.openRepository(ctx, r)
	if err != nil {
		return nil, err
	}
	return shared.FetchCommit(ctx, id)
}

// readCoverage returns how much of a claim's directory, which has the requested tree at the engine's commit, the report of the engine proves.
func (p *prover) readCoverage(ctx context.Context, r repository, want v1alpha1.SiteTree, s *proof.SiteFacts, delivered [][]byte) proof.Coverage {
	manifests, err := p.readManifests(ctx, r, want, s.Engine.Commit, delivered)
	if err != nil {
		return proof.Coverage{Unknown: err.Error()}
	}
	report := s.Engine.Report
	if s.Applied.Renamed {
		report.Uncompared = cmp.Or(report.Uncompared, "the engine reads a kustomization.yaml or an .argocd-source.yaml above the directory")
	}
	return proof.Coverage{Coverage: report.Cover(s.Site.Spec.Engine.Type, manifests)}
}

// addTrackFiles adds the routes and the Deployments to the traffic of a Site, from the files of the delivered commit. It returns why they are unknown, or "".
func (p *prover) addTrackFiles(ctx context.Context, r repository, want v1alpha1.SiteTree, delivered string) string {
	trackFiles, err := p.readTrackFiles(ctx, r, want, delivered)
	if err != nil {
		return err.Error()
	}
	trackFiles.AddTo(want.Traffic)
	return ""
}

// readTrackFiles returns the routes and the Deployments in a claim's directory, which has the requested tree at the delivered commit.
func (p *prover) readTrackFiles(ctx context.Context, r repository, want v1alpha1.SiteTree, delivered string) (directories.TrackFiles, error) {
	key := r.key + " " + want.Tree
	if cached, ok := p.tracks.Get(key); ok {
		return cached, nil
	}
	if s := p.readSubtree(ctx, r, delivered, "", want.Path); s.Unknown != "" || s.ID != want.Tree {
		return directories.TrackFiles{}, errors.New(cmp.Or(s.Unknown, "the delivered commit has another tree in the directory"))
	}
	files, err := p.readDirectoryFiles(ctx, r, delivered, want.Path)
	if err != nil {
		return directories.TrackFiles{}, err
	}
	out, err := directories.ReadTrackFiles(files)
	if err == nil {
		p.tracks.Put(r.tenant, key, out, trackFilesBytes)
	}
	return out, err
}

// readDirectoryFiles returns the files in a directory of a commit.
func (p *prover) readDirectoryFiles(ctx context.Context, r repository, commit, dir string) (map[string][]byte, error) {
	c, err := p.rememberedCommit(ctx, r, commit)
	if err != nil {
		return nil, err
	}
	shared, err := p.openRepository(ctx, r)
	if err != nil {
		return nil, err
	}
	return shared.ReadCommitFiles(ctx, c, dir, tree.Marker)
}

// openRepository opens a repository with its credentials, as they are now.
func (p *prover) openRepository(ctx context.Context, r repository) (*gitrepo.Repository, error) {
	g := r.spec.Git
	creds, err := credentials.Read(ctx, p.kube, credentials.Config{Kind: r.kind, Namespace: r.namespace, Remote: g, Guard: p.guard})
	if err != nil {
		return nil, err
	}
	c, err := p.pool.NewClient(creds.Apply(git.Remote{
		URL: g.URL, Branch: g.Branch, StateRef: state.Ref(r.spec.ControlPlane),
	}), git.WithClock(p.now))
	if err != nil {
		return nil, err
	}
	return p.pool.Open(c)
}

// readCommitSubtree returns the content of a commit in a directory. Files that change the objects that an engine applies may lie in any directory
// above.
func readCommitSubtree(ctx context.Context, c *git.Commit, root, dir string) (proof.Subtree, error) {
	id, err := c.Subtree(ctx, dir, tree.Marker)
	if err != nil {
		return proof.Subtree{}, err
	}
	out := proof.Subtree{ID: id}
	for parent := path.Dir(dir); ; parent = path.Dir(parent) {
		if parent == "." {
			parent = ""
		}
		ignores, err := c.HasAny(ctx, parent, ".sourceignore")
		if err != nil {
			return proof.Subtree{}, err
		}
		if isInDirectory(root, parent) && !out.Renamed {
			if out.Renamed, err = c.HasAny(ctx, parent, "kustomization.yaml", "kustomization.yml", "Kustomization"); err != nil {
				return proof.Subtree{}, err
			}
		}
		if parent == root && !out.Renamed {
			if out.Renamed, err = c.HasAny(ctx, parent, argoOverrides()...); err != nil {
				return proof.Subtree{}, err
			}
		}
		out.Overlaid = out.Overlaid || ignores || out.Renamed
		if parent == "" {
			return out, nil
		}
	}
}

// argoOverrides returns the names of files in the path of a source by which Argo CD overrides parameters of the source: for each Application, and for one.
// They may replace images, rename objects and leave files out, and no field of an Application shows it (argo-cd, reposerver/repository, mergeSourceParameters).
func argoOverrides() []string { return []string{".argocd-source.yaml", ".argocd-source-*.yaml"} }

// isInDirectory is true for the directory that an engine reads, and directories below it.
func isInDirectory(root, dir string) bool {
	return root == "" || dir == root || len(dir) > len(root) && dir[:len(root)+1] == root+"/"
}
