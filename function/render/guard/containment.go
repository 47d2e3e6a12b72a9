package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Bounds of the work that a Blueprint may cause in kustomize. A kustomization can read its bases more than once and change each
// object many times, so both the size of the input and the number of reads are bounded.
const (
	// MaxObjects is the greatest number of objects that a Blueprint may have, before and after it is rendered.
	MaxObjects = 500

	maxVisits = 64
	maxNodes  = 200_000
	maxWork   = 16 << 20
	maxFields = 1000
	maxSteps  = 10_000
)

// Names of the file with the intent's values.
const (
	// IntentFile is the name of the Blueprint's file with the ConfigMap of the intent.
	IntentFile = "intent.yaml"

	// IntentName is the name of that ConfigMap.
	IntentName = "intent"

	// LocalConfig is the annotation of objects that kustomize leaves out of its output.
	LocalConfig = "config.kubernetes.io/local-config"
)

// workloadSteps is the greatest number of patches that a renderer adds for marked workloads.
const workloadSteps = 5

// A walker walks through a kustomization as kustomize would, and refuses features that a Blueprint may not use before kustomize reads it.
type walker struct {
	files map[string]string

	visits      int
	documents   int
	nodes       int
	fields      int
	patchCount  int
	changeBytes int

	uses Uses
}

// CheckContained returns which values of an intent the kustomization at the root of the files uses. It returns an error, which names the file, for
// a kustomization that reads anything else than these files, or exceeds a bound.
func CheckContained(files map[string]string) (Uses, error) {
	g := &walker{files: files}
	if err := g.walkDirectory("", nil); err != nil {
		return Uses{}, errors.Wrap(err, "spec.files")
	}
	return g.uses, g.checkBounds()
}

func (g *walker) checkBounds() error {
	if g.uses.Workload {
		g.patchCount += workloadSteps
	}
	if g.documents > MaxObjects {
		return errors.Errorf("spec.files: %d objects are read, more than %d", g.documents, MaxObjects)
	}
	if g.documents*g.patchCount > maxSteps {
		return errors.Errorf("spec.files: %d patches of %d objects are too many", g.patchCount, g.documents)
	}
	if g.documents*g.changeBytes > maxWork {
		return errors.Errorf("spec.files: %d bytes of changes to %d objects are too much", g.changeBytes, g.documents)
	}
	return nil
}

// walkDirectory checks the kustomization in a directory. above has the directories that led to it.
func (g *walker) walkDirectory(dir string, above []string) error {
	file, err := g.findKustomization(dir)
	if err != nil {
		return err
	}
	if slices.Contains(above, dir) {
		return errors.Errorf("%s: is a base of itself", file)
	}
	if g.visits++; g.visits > maxVisits {
		return errors.Errorf("%s: kustomizations are read more than %d times", file, maxVisits)
	}
	if _, err := g.readYAMLDocuments(file, g.files[file]); err != nil {
		return err
	}
	g.changeBytes += len(g.files[file])
	k, err := decodeKustomization(g.files[file])
	if err != nil {
		return errors.Wrap(err, file)
	}
	if _, ok := k.CommonAnnotations[LocalConfig]; ok {
		// The ConfigMap intent may be delivered itself, with all of its values.
		g.uses.Whole = true
	}
	above = append(slices.Clone(above), dir)
	walks := []func(*types.Kustomization, string, []string) error{g.walkResources, g.checkPatches, g.checkReplacements, g.checkGenerators, g.checkConfigurations}
	for _, walk := range walks {
		if err := walk(k, dir, above); err != nil {
			return errors.Wrap(err, file)
		}
	}
	return nil
}

// findKustomization returns the name of the only kustomization file of a directory.
func (g *walker) findKustomization(dir string) (string, error) {
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

// walkResources checks the resources and components: files, and folders with kustomizations.
func (g *walker) walkResources(k *types.Kustomization, dir string, above []string) error {
	for _, ref := range k.Resources {
		if name, err := g.resolveFile(dir, ref); err == nil {
			if err := g.checkResourceFile(name); err != nil {
				return err
			}
			continue
		}
		if err := g.walkReferredFolder(dir, ref, above); err != nil {
			return errors.Wrap(err, "resources")
		}
	}
	for _, ref := range k.Components {
		if err := g.walkReferredFolder(dir, ref, above); err != nil {
			return errors.Wrap(err, "components")
		}
	}
	return nil
}

func (g *walker) walkReferredFolder(dir, ref string, above []string) error {
	target := path.Join(dir, ref)
	if !isLocalPath(ref) || !g.isBlueprintFolder(target) {
		return errors.Errorf("%.128q is not a file or a folder of the Blueprint: a kustomization reads only files of its Blueprint", ref)
	}
	return g.walkDirectory(target, above)
}

func (g *walker) isBlueprintFolder(dir string) bool {
	for name := range g.files {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

func (g *walker) checkResourceFile(name string) error {
	documents, err := g.readYAMLDocuments(name, g.files[name])
	if err != nil {
		return err
	}
	g.documents += len(documents)
	g.uses.Values = g.uses.Values || name == IntentFile
	for i, d := range documents {
		g.uses.recordWorkload(name, d)
		if strings.HasSuffix(scalarField(d, "kind"), "List") {
			return errors.Errorf("%s: is a list: write each object as a separate document", name)
		}
		if err := checkHasName(d); err != nil {
			return errors.Wrapf(err, "%s: object %d", name, i+1)
		}
	}
	return nil
}

// checkHasName refuses an object with metadata.generateName alone, for which kustomize says that the name is missing.
func checkHasName(object *yaml.Node) error {
	if objectName(object) != "" || metadataField(object, "generateName") == "" {
		return nil
	}
	return errors.Errorf("metadata.generateName: %s needs metadata.name: the API server would generate another name at each delivery", scalarField(object, "kind"))
}

// resolveFile returns the name of a file that a kustomization refers to. Folders that kustomize could take for the address of a Git server are not local.
func (g *walker) resolveFile(dir, ref string) (string, error) {
	name := path.Join(dir, ref)
	if _, ok := g.files[name]; !ok || !isLocalPath(path.Dir(ref)) {
		return "", errors.Errorf("%.128q is not a file of the Blueprint: a kustomization reads only files of its Blueprint", ref)
	}
	return name, nil
}

// isLocalPath reports whether kustomize takes a reference for a path and never for an address.
func isLocalPath(ref string) bool {
	for part := range strings.SplitSeq(ref, "/") {
		if part != "." && part != ".." && (part == "" || strings.ContainsAny(part, ".:@?%\\ ")) {
			return false
		}
	}
	return !strings.Contains(ref, "_git/")
}

func (g *walker) checkGenerators(k *types.Kustomization, dir string, _ []string) error {
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
			name, err := g.resolveFile(dir, ref)
			if err != nil {
				return errors.Wrap(err, "generators")
			}
			g.changeBytes += len(g.files[name])
			g.uses.Whole = g.uses.Whole || name == IntentFile
		}
	}
	return nil
}

func (g *walker) checkConfigurations(k *types.Kustomization, dir string, _ []string) error {
	for _, ref := range k.Configurations {
		name, err := g.resolveFile(dir, ref)
		if err != nil {
			return errors.Wrap(err, "configurations")
		}
		if _, err := g.readYAMLDocuments(name, g.files[name]); err != nil {
			return err
		}
	}
	return nil
}
