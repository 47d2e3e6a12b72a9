// Package observation gathers the facts about a delivery: from a snapshot of its repository, from other repositories of its claim, and from the API server.
// It decides nothing, and writes nothing.
package observation

import (
	"context"
	"maps"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/witness"
)

// A Gatherer gathers the facts about one delivery, for one reconcile.
type Gatherer struct {
	// Kube reads from the cache, and Live reads from the API server, without the cache.
	Kube client.Reader
	Live client.Reader

	// Repository of the delivery, Config its configuration, and Age the maximum age of an observation of a repository.
	Repository Repository
	Config     remote.Config
	Age        time.Duration
	// ClusterUID differs between clusters whose control planes have the same name.
	ClusterUID string
	// OpenOther opens the repository of another delivery. Nil in the queue of the own repository, which waits for no other repository.
	OpenOther func(ctx context.Context, d *v1alpha1.GitDelivery) (*Gatherer, error)

	// AsRead is the delivery as the reconcile read it, if it has a mandate: its status is earlier evidence.
	AsRead *v1alpha1.GitDelivery
	// Witnesses are read for homes with a mandate, and HonoursMandates reports whether the provider acts by mandates.
	Witnesses       *witness.Reader
	HonoursMandates bool
	// Tracker caches composed directories in tracks. Nil caches none.
	Tracker *directories.Tracker
	// Names caches the names of the objects in files.
	Names *overlap.Names

	Now    func() time.Time
	Logger logging.Logger

	// claimGuard is the last answer about the claim in this reconcile.
	claimGuard guardReading
	// readTrees are the files of trees that were read, by id. The files of an id never change.
	readTrees map[string]tree.Files
}

// A Repository reads the files, commits and trees of a repository that a snapshot does not hold.
type Repository interface {
	// Look returns a snapshot of the repository that is not older than the given time.
	Look(ctx context.Context, key types.NamespacedName, notBefore time.Time) (*git.Snapshot, error)
	// ReadFile returns the content of a file of the branch, and whether the branch has the file.
	ReadFile(ctx context.Context, s *git.Snapshot, path string) ([]byte, bool, error)
	// Contains reports whether a commit is in the branch.
	Contains(ctx context.Context, s *git.Snapshot, commit string) (bool, error)
	// ReadTree returns the files of a tree, and whether the repository has the tree.
	ReadTree(ctx context.Context, s *git.Snapshot, w git.WantedTree) (map[string][]byte, bool, error)
	// ReadMessages returns the messages of commits that have words.
	ReadMessages(ctx context.Context, s *git.Snapshot, words string) ([]git.Message, error)
}

// ForQueue returns a Gatherer for the turn of a delivery in the queue of its repository. It shares no data with the reconcile, which may have ended by then.
func (g *Gatherer) ForQueue(d *v1alpha1.GitDelivery) *Gatherer {
	out := *g
	out.readTrees, out.OpenOther = maps.Clone(g.readTrees), nil
	if g.AsRead != nil {
		home := *d
		g.AsRead.Status.DeepCopyInto(&home.Status)
		out.AsRead = &home
	}
	return &out
}

// cacheTree caches the files of a tree for the rest of the reconcile.
func (g *Gatherer) cacheTree(id string, files tree.Files) {
	if g.readTrees == nil {
		g.readTrees = map[string]tree.Files{}
	}
	g.readTrees[id] = files
}
