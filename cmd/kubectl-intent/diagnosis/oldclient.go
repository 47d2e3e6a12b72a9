package diagnosis

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// minorSkew is the number of minor versions that kubectl-intent may be behind the provider, as kubectl may be behind an API server.
const minorSkew = 1

// OldClientWarning returns a sentence for a kubectl-intent that is older than a provider by two minor versions, or by a major version, and "" for any other. Versions
// that cannot be compared give none.
func OldClientWarning(client string, providers []Package) string {
	v, err := semver.NewVersion(client)
	if err != nil {
		return ""
	}
	for i := range providers {
		p, err := semver.NewVersion(providers[i].Version())
		if err != nil || !isClientTooOld(v, p) {
			continue
		}
		return fmt.Sprintf("kubectl-intent %s is too old for %s, which is %s: it may not know all fields and reasons. Install kubectl-intent v%d.%d.",
			client, providers[i].kindAndName(), providers[i].Version(), p.Major(), p.Minor())
	}
	return ""
}

func isClientTooOld(client, provider *semver.Version) bool {
	if client.Major() != provider.Major() {
		return client.Major() < provider.Major()
	}
	return client.Minor()+minorSkew < provider.Minor()
}

// IsComparable reports whether a version of kubectl-intent can be compared with the version of a package.
func IsComparable(version string) bool {
	_, err := semver.NewVersion(version)
	return err == nil
}
