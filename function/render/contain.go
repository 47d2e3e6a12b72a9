package render

import (
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/types"
)

// Bounds of what a Blueprint may make kustomize do. A kustomization can read its bases more than once and change each object many
// times, so what matters is not only how much there is but how often it is read.
const (
	maxVisits = 64
	maxNodes  = 200_000
	maxWork   = 16 << 20
	maxFields = 1000
	maxSteps  = 10_000
)

// A guard walks through a kustomization as kustomize would, and refuses what it may not do, before kustomize sees any of it.
type guard struct {
	files map[string]string

	visits    int
	documents int
	nodes     int
	fields    int
	patched   int
	changes   int

	uses Uses
}

// contain returns what the kustomization at the root of the files has for an intent to fill, or an error unless it stays within them: it
// names the file.
func contain(files map[string]string) (Uses, error) {
	g := &guard{files: files}
	if err := g.directory("", nil); err != nil {
		return Uses{}, errors.Wrap(err, "spec.files")
	}
	return g.uses, g.bounds()
}

func (g *guard) bounds() error {
	if g.uses.Workload {
		g.patched += workloadSteps
	}
	if g.documents > maxObjects {
		return errors.Errorf("spec.files: %d objects are read, more than %d", g.documents, maxObjects)
	}
	if g.documents*g.patched > maxSteps {
		return errors.Errorf("spec.files: %d patches of %d objects are too many", g.patched, g.documents)
	}
	if g.documents*g.changes > maxWork {
		return errors.Errorf("spec.files: %d bytes of changes to %d objects are too much", g.changes, g.documents)
	}
	return nil
}

// directory walks through the kustomization in a directory. Those that led to it are above.
func (g *guard) directory(dir string, above []string) error {
	file, err := g.kustomization(dir)
	if err != nil {
		return err
	}
	if slices.Contains(above, dir) {
		return errors.Errorf("%s: is a base of itself", file)
	}
	if g.visits++; g.visits > maxVisits {
		return errors.Errorf("%s: kustomizations are read more than %d times", file, maxVisits)
	}
	if _, err := g.measure(file, g.files[file]); err != nil {
		return err
	}
	g.changes += len(g.files[file])
	k, err := decode(g.files[file])
	if err != nil {
		return errors.Wrap(err, file)
	}
	if _, ok := k.CommonAnnotations[localConfig]; ok {
		// The ConfigMap intent may be delivered itself, with all of its values.
		g.uses.Whole = true
	}
	above = append(slices.Clone(above), dir)
	walks := []func(*types.Kustomization, string, []string) error{g.resources, g.patches, g.replacements, g.generators, g.configurations}
	for _, walk := range walks {
		if err := walk(k, dir, above); err != nil {
			return errors.Wrap(err, file)
		}
	}
	return nil
}

// kustomization returns the one kustomization file of a directory.
func (g *guard) kustomization(dir string) (string, error) {
	found := []string{}
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, ok := g.files[path.Join(dir, name)]; ok {
			found = append(found, path.Join(dir, name))
		}
	}
	if len(found) != 1 {
		return "", errors.Errorf("%s: must have one kustomization.yaml", path.Join("./", dir))
	}
	return found[0], nil
}

// resources walks through what is read: files, and folders with kustomizations.
func (g *guard) resources(k *types.Kustomization, dir string, above []string) error {
	for _, ref := range k.Resources {
		if name, err := g.file(dir, ref); err == nil {
			if err := g.resource(name); err != nil {
				return err
			}
			continue
		}
		if err := g.folder(dir, ref, above); err != nil {
			return errors.Wrap(err, "resources")
		}
	}
	for _, ref := range k.Components {
		if err := g.folder(dir, ref, above); err != nil {
			return errors.Wrap(err, "components")
		}
	}
	return nil
}

func (g *guard) folder(dir, ref string, above []string) error {
	target := path.Join(dir, ref)
	if !local(ref) || !g.isFolder(target) {
		return errors.Errorf("%.128q is not a file or a folder of the Blueprint: nothing else can be read", ref)
	}
	return g.directory(target, above)
}

func (g *guard) isFolder(dir string) bool {
	for name := range g.files {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

func (g *guard) resource(name string) error {
	documents, err := g.measure(name, g.files[name])
	if err != nil {
		return err
	}
	g.documents += len(documents)
	g.uses.Values = g.uses.Values || name == intentFile
	for _, d := range documents {
		g.uses.object(name, d)
		if strings.HasSuffix(field(d, "kind"), "List") {
			return errors.Errorf("%s: is a list: each object must stand for itself", name)
		}
	}
	return nil
}

// file resolves the name of a file. Folders that kustomize could take for the address of a Git server are not local.
func (g *guard) file(dir, ref string) (string, error) {
	name := path.Join(dir, ref)
	if _, ok := g.files[name]; !ok || !local(path.Dir(ref)) {
		return "", errors.Errorf("%.128q is not a file of the Blueprint: nothing else can be read", ref)
	}
	return name, nil
}

// local says whether kustomize can take this for nothing but a folder beside it.
func local(ref string) bool {
	for part := range strings.SplitSeq(ref, "/") {
		if part != "." && part != ".." && (part == "" || strings.ContainsAny(part, ".:@?%\\ ")) {
			return false
		}
	}
	return !strings.Contains(ref, "_git/")
}

func (g *guard) generators(k *types.Kustomization, dir string, _ []string) error {
	sources := []types.KvPairSources{}
	for i := range k.ConfigMapGenerator {
		sources = append(sources, k.ConfigMapGenerator[i].KvPairSources)
	}
	for i := range k.SecretGenerator {
		sources = append(sources, k.SecretGenerator[i].KvPairSources)
	}
	g.documents += len(sources)
	for _, s := range sources {
		refs := append(slices.Clone(s.EnvSources), s.EnvSource)
		for _, f := range s.FileSources {
			// A file may be given another name: <key>=<file>.
			refs = append(refs, f[strings.Index(f, "=")+1:])
		}
		for _, ref := range refs {
			if ref == "" {
				continue
			}
			name, err := g.file(dir, ref)
			if err != nil {
				return errors.Wrap(err, "generators")
			}
			g.changes += len(g.files[name])
			g.uses.Whole = g.uses.Whole || name == intentFile
		}
	}
	return nil
}

func (g *guard) configurations(k *types.Kustomization, dir string, _ []string) error {
	for _, ref := range k.Configurations {
		name, err := g.file(dir, ref)
		if err != nil {
			return errors.Wrap(err, "configurations")
		}
		if _, err := g.measure(name, g.files[name]); err != nil {
			return err
		}
	}
	return nil
}
