package catalog

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// runs are the figures of each sixteenth, as patterns of their names. Figures of one run stay together. Each takes at most a quarter of an hour on two
// processors, but for two: the canaries take 50 minutes, and a thousand deployments at once 40.
var runs = []string{
	"harness_* breaker_tokens_1_site ledger_* claim_* provider_rss_mib provider_peak_*",
	"breaker_tokens_10_* breaker_tokens_rollback_story slo_* orphan_rollback_*",
	"breaker_tokens_canary_story breaker_tokens_second_canary step_to_* mandate_* canary_pods_made canary_stable_* canary_breach_* canary_failed_* orphan_breach_* orphan_abort_* weight_* pause_* paused_*",
	"gates_* hostile_cluster_* flux_* delivery_* deliveries_*",
	"neighbour_* hostile_total_*",
	"steady_* config_*",
	"clusters_* cluster_* notification_*",
	"application_tokens_* application_deployment_* application_claim_* push_* image_* pod_*",
	"applications_* source_* application_steady_* application_flapping_*",
	"bundle_*",
	"writes_alone_* composite_* at_once_200_writes_namespaced at_once_200_writes_claims at_once_200_conflicts_* at_once_200_s_namespaced at_once_200_s_claims at_once_200_over_* at_once_200_writes_over_*",
	"at_once_200_*_100_workers_*",
	"at_once_200_beside_* at_once_100_* state_* prune_* why_* status_watch_* status_all_1000_* doctor_* observer_*",
	"status_all_over_* render_* allocated_* request_* canary_call_* function_rss_mib function_peak_* phase_* step_us conclude_*",
	"git_* big_* hostile_pack_* managed_*",
	"at_once_1000_* *_rss_1000_mib edit_* blueprint_* restart_* site_* resync_* provider_down_*",
}

// Slice returns the patterns of a slice, such as 5/16, or 3/8 for two of them. It returns an error for another name.
func Slice(name string) (string, error) {
	for i, patterns := range runs {
		switch name {
		case fmt.Sprintf("%d/%d", i+1, len(runs)):
			return patterns, nil
		case fmt.Sprintf("%d/%d", i/2+1, len(runs)/2):
			return patterns + " " + runs[i+1], nil
		}
	}
	n, half := len(runs), len(runs)/2
	return "", errors.Errorf("cannot find slice %q: name one of 1/%d to %d/%d, or of 1/%d to %d/%d", name, n, n, n, half, half, half)
}

// Matches is true for the name of a figure that one of some patterns matches, between which there are spaces. Without any, all do.
func Matches(name, patterns string) bool {
	return patterns == "" || slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool {
		isMatch, err := path.Match(pattern, name)
		return isMatch && err == nil
	})
}
