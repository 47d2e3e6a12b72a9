package main

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/function/application"
	"github.com/intentplane/intentplane/function/bundle"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/workloadcluster"
	"github.com/intentplane/intentplane/test/bench/catalog"
)

// A section has the conditions of a kind, which a file declares, and the advice about them.
type section struct {
	title, file string
	kind        advice.Kind
}

func conditionSections() []section {
	return []section{
		{"IntentDeployment", "apis/deployment/v1alpha1/conditions.go", advice.IntentDeployment},
		{"Application", "apis/application/v1alpha1/conditions.go", advice.Application},
		{"Bundle", "apis/bundle/v1alpha1/conditions.go", advice.Bundle},
		{"WorkloadCluster", "apis/workloadcluster/v1alpha1/conditions.go", advice.WorkloadCluster},
		{"GitDelivery", "apis/delivery/v1alpha1/gitdelivery_conditions.go", advice.GitDelivery},
		{"SiteSync", syncConditions, advice.SiteSync},
		{"Site", syncConditions, advice.Site},
		{"SiteHealth", "apis/delivery/v1alpha1/sitehealth_conditions.go", advice.SiteHealth},
		{"traffic", "provider/gatewayapi/reasons.go", advice.Site},
		{"ImageBuild", "apis/build/v1alpha1/conditions.go", advice.ImageBuild},
		{"Gate", "apis/rollout/v1alpha1/gate_conditions.go", advice.Gate},
		{"ManagedCluster", "apis/cluster/v1alpha1/conditions.go", advice.ManagedCluster},
		{"Cluster", "provider/clusters/readiness/reasons.go", advice.Cluster},
		{"RolloutRequest", "apis/rollout/v1alpha1/request_types.go", advice.RolloutRequest},
		{"BundleState", "apis/state/v1alpha1/bundlestate_conditions.go", advice.BundleState},
		{"PruneRequest", "apis/state/v1alpha1/prunerequest_conditions.go", advice.PruneRequest},
		{"PruneApproval", "apis/state/v1alpha1/pruneapproval_conditions.go", advice.PruneApproval},
		{"Installation", "apis/advice/installation.go", advice.Installation},
		{"ProviderConfig and ClusterProviderConfig", "apis/config/v1alpha1/conditions.go", advice.ProviderConfig},
	}
}

// syncConditions declares the conditions of a SiteSync, and the reasons of the Sites in its status.
const syncConditions = "apis/delivery/v1alpha1/sitesync_conditions.go"

// isAboutConstant reports whether a section is about a constant.
func (s section) isAboutConstant(c constant) bool {
	return s.file == c.file && (s.file != syncConditions || (s.kind == advice.Site) == strings.HasPrefix(c.name, "Site"))
}

// renderParts returns all that is generated, by their names. It returns an error for reasons that are in no section.
func renderParts(root string) (map[string]string, error) {
	all, err := readConstants(root, "apis")
	if err != nil {
		return nil, err
	}
	constants, err := readConstants(root, "provider")
	if err != nil {
		return nil, err
	}
	eventReasons, err := readEventReasons(root, append(constants, all...))
	if err != nil {
		return nil, err
	}
	figures, err := catalog.Read(root)
	if err != nil {
		return nil, err
	}
	out := map[string]string{
		"figures":                     figures.Table(),
		"phases of IntentDeployment":  deploymentPhases(),
		"changes of IntentDeployment": phaseChanges(phase.Edges()),
		"phases of Application":       applicationPhases(),
		"changes of Application":      phaseChanges(application.Edges()),
		"phases of Bundle":            bundlePhases(),
		"changes of Bundle":           phaseChanges(bundle.Edges()),
		"phases of WorkloadCluster":   clusterPhases(),
		"changes of WorkloadCluster":  phaseChanges(workloadcluster.Edges()),
		"events":                      wordsOfKind("reason", eventReasons),
		"metrics":                     metricsTable(),
	}
	for _, s := range conditionSections() {
		out["conditions of "+s.title] = adviceGroups(s.kind, slices.DeleteFunc(append(slices.Clone(all), constants...), func(c constant) bool { return !s.isAboutConstant(c) }))
	}
	for _, c := range all {
		if kindOfConstant(c) == "reason" && !slices.ContainsFunc(conditionSections(), func(s section) bool { return s.isAboutConstant(c) }) {
			return nil, errors.Errorf("cannot place %s of %s in the reference", c.name, c.file)
		}
	}
	return out, nil
}

// adviceGroups returns one table for each group of constants, below the comment of the group.
func adviceGroups(k advice.Kind, all []constant) string {
	var out []string
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].group == all[0].group && kindOfConstant(all[n]) == kindOfConstant(all[0]) {
			n++
		}
		if all[0].group != "" {
			out = append(out, all[0].group+"\n")
		}
		out = append(out, adviceTable(k, all[:n]))
		all = all[n:]
	}
	return strings.Join(out, "\n")
}

func kindOfConstant(c constant) string {
	return strings.ToLower(apiConstant.FindStringSubmatch(c.name)[1])
}
