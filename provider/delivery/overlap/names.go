package overlap

import (
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/tenantcache"
)

const (
	// maxNamedBytes is the limit for the cached objects of files, and for the cached names of directories, of all namespaces together.
	maxNamedBytes = 16 << 20
	// textOverhead is the approximate memory of a text in a cache beside its bytes.
	textOverhead = 32
)

// Names caches the objects of files and the file names of directories, by id: the content of an id never changes. The namespace with the most of them
// loses its own first. It is safe for concurrent use.
type Names struct {
	// objects of files.
	objects *tenantcache.Cache[[]policy.Object]
	// stems are the prefixes of the names of entries in claims' directories.
	stems *tenantcache.Cache[[]string]
}

// NewNames returns an empty cache.
func NewNames() *Names {
	return &Names{objects: tenantcache.New[[]policy.Object](maxNamedBytes), stems: tenantcache.New[[]string](maxNamedBytes)}
}

func (n *Names) cacheFileStems(namespace, id string, stems []string) {
	size := 0
	for _, stem := range stems {
		size += len(stem) + textOverhead
	}
	n.stems.Put(namespace, id, stems, size)
}

func (n *Names) cacheFileObjects(namespace, id string, all []policy.Object) {
	size := 0
	for _, o := range all {
		size += len(o.Group) + len(o.Kind) + len(o.Namespace) + len(o.Name) + 4*textOverhead
	}
	n.objects.Put(namespace, id, all, size)
}
