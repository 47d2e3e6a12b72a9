package catalog

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// runs are the figures of each slice, as patterns of their names. Figures of one run stay together. A slice takes at most a quarter of an hour on two
// processors, but for the last one: a thousand deployments at once take up to 40 minutes.
var runs = []string{
	"harness_* breaker_tokens_1_site breaker_tokens_10_* breaker_tokens_rollback_story slo_* ledger_*",
	"breaker_tokens_canary_story step_to_* canary_pods_made canary_stable_* canary_breach_* canary_failed_* weight_* pause_* paused_*",
	"claim_* provider_rss_mib provider_peak_* gates_* hostile_cluster_* hostile_total_* flux_* delivery_* deliveries_* neighbour_* steady_* config_* clusters_* cluster_*",
	"application_* applications_* push_* image_* pod_* source_* bundle_* notification_*",
	"writes_alone_* composite_* at_once_200_writes_namespaced at_once_200_writes_claims at_once_200_conflicts_* at_once_200_s_namespaced at_once_200_s_claims at_once_200_over_* at_once_200_writes_over_*",
	"at_once_200_*_100_workers_* at_once_200_beside_* at_once_100_*",
	"state_* prune_* why_* status_* doctor_* observer_* render_* allocated_* request_* canary_call_* function_rss_mib function_peak_* phase_* step_us git_* big_* hostile_pack_* managed_*",
	"at_once_1000_* *_rss_1000_mib edit_* blueprint_* restart_* site_* resync_* provider_down_*",
}

// Slice returns the patterns of a slice, such as 3/8. It returns an error for another name.
func Slice(name string) (string, error) {
	for i, patterns := range runs {
		if name == fmt.Sprintf("%d/%d", i+1, len(runs)) {
			return patterns, nil
		}
	}
	return "", errors.Errorf("cannot find slice %q: name one of 1/%d to %d/%d", name, len(runs), len(runs), len(runs))
}

// Matches is true for the name of a figure that one of some patterns matches, between which there are spaces. Without any, all do.
func Matches(name, patterns string) bool {
	return patterns == "" || slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool {
		isMatch, err := path.Match(pattern, name)
		return isMatch && err == nil
	})
}
