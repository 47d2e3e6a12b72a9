package claims

import (
	"testing"
)

// TestMissingClusterAPI begins where the kinds of Cluster API are not served.
func TestMissingClusterAPI(t *testing.T) {
	t.Parallel()
	t.Run("SiteWaitsForItsCluster", awaitSiteWaits)
	for name, version := range map[string]string{"Claim": "claims.intentplane.dev/v1alpha1", "Composite": "intentplane.dev/v1alpha1"} {
		for part, await := range map[string]func(*testing.T, string){"Builds": awaitBuiltAndDeleted, "Loses": awaitLostCluster} {
			t.Run(name+part, func(t *testing.T) {
				t.Parallel()
				await(t, version)
			})
		}
	}
}
