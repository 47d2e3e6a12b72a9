package main

import (
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/applications"
	"github.com/intentplane/intentplane/test/bench/catalog"
	"github.com/intentplane/intentplane/test/bench/crowds"
	"github.com/intentplane/intentplane/test/bench/gobench"
	"github.com/intentplane/intentplane/test/bench/plugin"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
)

// A need is the set of programs to build before a figure is measured. Each includes the needs before it.
type need int

const (
	// needNothing is the need of Go's benchmarks.
	needNothing need = iota
	// needServer is the need of an API server alone.
	needServer
	// needPackages is the need of a control plane with our packages.
	needPackages
	// needEverything is the need of the components beside a control plane: GitOps engines, Prometheus, a gateway.
	needEverything
)

// serverPrograms are the programs of a control plane, by the names that tools/tools.sh has for them.
const serverPrograms = "ETCD KUBE_APISERVER KUBE_CONTROLLERS KUBECTL CROSSPLANE_CORE CROSSPLANE_CRDS"

// printedNeeds are the printed forms of needs: "packages" for the packages of this repository, and the programs, or "all" of them.
func printedNeeds() map[need]string {
	return map[need]string{needNothing: "", needServer: serverPrograms, needPackages: "packages " + serverPrograms, needEverything: "packages all"}
}

// printNeeds prints the needs of the figures that some patterns match. It returns an error if no figure has such a name.
func printNeeds(patternList string) error {
	n, isKnown := needOfPatterns(patternList)
	if !isKnown {
		return errors.Errorf("cannot measure %q: it is not a figure", patternList)
	}
	fmt.Println(printedNeeds()[n])
	return nil
}

// needOfPatterns returns the combined need of the figures that some patterns match, and false if no figure has such a name.
func needOfPatterns(patternList string) (need, bool) {
	highest, isKnown := needNothing, false
	for _, f := range allFigures(&stage.Stage{}) {
		if catalog.Matches(f.Name, patternList) {
			highest, isKnown = max(highest, needOfFigure(f.Name)), true
		}
	}
	return highest, isKnown
}

// packageFigures are patterns of figures whose control plane needs nothing but our packages.
const packageFigures = "harness_* breaker_tokens_1_site ledger_* claim_to_* provider_* delivery_* deliveries_* neighbour_* hostile_total_* steady_*"

// needOfFigure returns the need of a figure. A figure that is not listed needs everything.
func needOfFigure(name string) need {
	s := &stage.Stage{}
	switch {
	case containsFigure(name, gobench.FunctionFigures()), containsFigure(name, gobench.GitFigures()), catalog.Matches(name, "prune_*"):
		return needNothing
	case containsFigure(name, gobench.StateFigures()):
		return needServer
	case containsFigure(name, slices.Concat(crowds.Figures(s), applications.BundleFigures(s), plugin.Figures())), catalog.Matches(name, packageFigures):
		return needPackages
	}
	return needEverything
}

func containsFigure(name string, all []series.Figure) bool {
	return slices.ContainsFunc(all, func(f series.Figure) bool { return f.Name == name })
}
