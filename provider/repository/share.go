package repository

import (
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// atOnce is how many operations one host serves for administrators at the same time.
	atOnce = 3

	// tenantsAtOnce is how many operations one host serves for all namespaces that reach it by configurations of their own.
	tenantsAtOnce = 6

	// namespaceAtHost is how many of them one namespace has, and namespaceAtOnce how many at whatever hosts.
	namespaceAtHost = 2
	namespaceAtOnce = 4

	// tenantsTogether is how many operations there are for all namespaces. Each may hold an answer in memory.
	tenantsTogether = 24
)

// A commons is what all of one trust use together. What namespaces do to it by configurations of their own harms no administrator's.
type commons struct {
	slots  *shares.Places
	lanes  *shares.Places
	budget *transport.Budget
}

// newCommons returns what administrators' configurations use.
func newCommons() commons {
	return commons{
		slots:  shares.NewPlaces(shares.Limits{PerHost: atOnce}),
		lanes:  shares.NewPlaces(shares.Limits{PerHost: 1}),
		budget: transport.NewBudget(),
	}
}

// newTenantsCommons returns what configurations of namespaces use.
func newTenantsCommons() commons {
	return commons{
		slots: shares.NewPlaces(shares.Limits{
			PerHost: tenantsAtOnce, PerNamespace: namespaceAtOnce, PerNamespaceAtHost: namespaceAtHost, Together: tenantsTogether,
		}),
		lanes:  shares.NewPlaces(shares.Limits{PerHost: 1}),
		budget: transport.NewBudget(),
	}
}
