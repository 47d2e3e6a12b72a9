package repository

import (
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// administratorSlots is how many operations one host serves for administrators at the same time.
	administratorSlots = 3

	// tenantSlots is how many operations one host serves for all namespaces that reach it by configurations of their own.
	tenantSlots = 6

	// namespaceSlotsAtHost is how many of them one namespace has, and namespaceSlots how many at all hosts.
	namespaceSlotsAtHost = 2
	namespaceSlots       = 4

	// tenantSlotsTogether is how many operations there are for all namespaces. Each may hold an answer in memory.
	tenantSlotsTogether = 24
)

// sharedLimits are the limits that all configurations of one trust share. Configurations of namespaces and of administrators share none, so
// that no namespace delays an administrator's deliveries.
type sharedLimits struct {
	slots  *shares.Places
	lanes  *shares.Places
	budget *budget.Budget
}

// newAdministratorLimits returns the limits of administrators' configurations.
func newAdministratorLimits() sharedLimits {
	return sharedLimits{
		slots: shares.NewPlaces(shares.Limits{PerHost: administratorSlots}),
		lanes: shares.NewPlaces(shares.Limits{PerHost: 1}), budget: budget.New(),
	}
}

// newTenantLimits returns the limits of namespaces' configurations.
func newTenantLimits(b *budget.Budget) sharedLimits {
	return sharedLimits{
		slots: shares.NewPlaces(shares.Limits{
			PerHost: tenantSlots, PerNamespace: namespaceSlots, PerNamespaceAtHost: namespaceSlotsAtHost, Together: tenantSlotsTogether,
		}),
		lanes: shares.NewPlaces(shares.Limits{PerHost: 1}), budget: b,
	}
}
