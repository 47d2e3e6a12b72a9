package docs

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/typed"
)

// TestPrivateRegistry installs from a registry that asks for credentials and offers a release candidate too, as the page says, and then types
// all other pages.
func TestPrivateRegistry(t *testing.T) {
	cp, version := startEmptyPlane(t, func(o *controlplane.Options) { o.RegistryUser, o.RegistryPassword = user, password })
	publishCandidates(t, cp)
	registry := cp.Registry() + "/intentplane"
	r := newPageReader(t, cp, valuesOfReader(cp, registry, version), user, password)

	install := r.blocksOfPage(t, installPage, append([]string{"A cluster with a private registry"}, afterwards...)...)
	r.typeAllBlocks(t, installPage, install)
	wantVersions(t, cp, version)
	wantRenderer(t, cp)
	wantDeployments(t, cp, registry, version, []string{"intentplane-registry"})
	wantDelivered(t, cp)
	refusesUneditedRepository(t, r)

	installKinds(t, cp)
	t.Run("Pages", func(t *testing.T) {
		for _, page := range append(typed.Pages(), morePages...) {
			if page == installPage {
				continue // The install page was typed to come here.
			}
			t.Run(strings.TrimPrefix(page, "docs/"), func(t *testing.T) {
				r.typeAllBlocks(t, page, r.blocksOfPage(t, page))
			})
		}
		t.Run("Examples", func(t *testing.T) {
			t.Parallel()
			r.typeAllBlocks(t, "examples", exampleBlocks(t, r))
		})
		t.Run("BrokenLine", func(t *testing.T) {
			t.Parallel()
			failsWhereALineIsBroken(t, r)
		})
	})
}

// TestAirGappedRegistry installs from a registry without credentials, below another path.
func TestAirGappedRegistry(t *testing.T) {
	cp, version := startEmptyPlane(t, func(*controlplane.Options) {})
	registry := cp.Registry() + "/mirror/intentplane"
	r := newPageReader(t, cp, valuesOfReader(cp, registry, version), "", "")
	r.typeAllBlocks(t, installPage, r.blocksOfPage(t, installPage, append([]string{"An air-gapped registry"}, afterwards...)...))
	wantVersions(t, cp, version)
	wantRenderer(t, cp)
	wantDeployments(t, cp, registry, version, nil)
	wantDelivered(t, cp)
}

// TestFirstService types the second tutorial and the README on a control plane with real Flux, from a release: a Site is proven, and a broken version is
// rolled back. The registry of the packages, the bootstrap of Flux and the pods are played.
func TestFirstService(t *testing.T) {
	release := makeRelease(t)
	cp, _ := startEmptyPlane(t, func(*controlplane.Options) {})
	publishRelease(t, cp, release)
	bootstrapFlux(t, cp)
	playWorkloads(t, cp, "team-a", goodImage)
	r := newPageReader(t, cp, map[string]string{"VERSION": releaseVersion}, "", "")
	r.installPlugin(t, release)
	r.useMirrorNames(t)
	blocks := r.blocksOfPage(t, startPage)
	out := r.typeAllBlocks(t, startPage, blocks)
	t.Log(out)
	r.wantPageSamples(t, startPage, blocks, out)
	r.wantRolledBack(t)
	r.typeAllBlocks(t, readmePage, r.blocksOfPage(t, readmePage))
}
