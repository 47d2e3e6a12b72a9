// Package account limits what API servers may cause in the provider. An account pays for the answers of a tenant's clusters: for the memory of objects and
// lists, for one large answer at a time, and for the rate of events. No request is sent that no account pays for.
package account

import (
	"maps"
	"math"
	"sync"
	"weak"

	"golang.org/x/time/rate"
)

// An Account limits the use of shared resources by a tenant's clusters: the memory of watched, listed and read objects, one large answer at a time, and
// the rate of events. A tenant has one for all clusters that the tenant published, so that many of them cost the tenant alone.
type Account struct {
	bounds Bounds
	events *rate.Limiter
	turn   chan struct{}
	memory *Quota
}

// newAccount returns an Account without connections.
func newAccount(b Bounds) *Account {
	return &Account{bounds: b, events: rate.NewLimiter(eventRate, eventBurst), turn: make(chan struct{}, 1), memory: newMemoryQuota(b.storeBound())}
}

// Accounts are the accounts of all who pay for connections to clusters. All pools and probers of a process share them, so that a bound holds for the whole
// process. Nothing can be sent with nil Accounts, or with the zero value. They are safe for concurrent use.
type Accounts struct {
	bounds Bounds
	// home is the memory that the namespaces of the provider's own cluster share.
	home *homeMemory

	mu sync.Mutex
	// byKey has each account for as long as a connection uses it.
	byKey map[string]weak.Pointer[Account]
}

// New returns Accounts that each have these bounds.
func New(b Bounds) *Accounts {
	home := &homeMemory{guaranteed: b.storeBound() / guaranteedPart, bound: homeTotalFactor * b.storeBound()}
	return &Accounts{bounds: b, home: home, byKey: map[string]weak.Pointer[Account]{}}
}

// For returns the account with a key, or nil of Accounts that nothing can be sent with.
func (a *Accounts) For(key string) *Account { return a.findOrAddAccount(key, newAccount) }

// ForHome returns the account that pays for the watched objects of one namespace of the provider's own cluster.
func (a *Accounts) ForHome(namespace string) *Account {
	return a.findOrAddAccount("home "+namespace, func(b Bounds) *Account {
		return &Account{bounds: b, memory: newHomeQuota(homeFactor*b.storeBound(), a.home)}
	})
}

func (a *Accounts) findOrAddAccount(key string, newAccount func(Bounds) *Account) *Account {
	if a == nil || a.byKey == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if existing := a.byKey[key].Value(); existing != nil {
		return existing
	}
	maps.DeleteFunc(a.byKey, func(_ string, unused weak.Pointer[Account]) bool { return unused.Value() == nil })
	created := newAccount(a.bounds)
	a.byKey[key] = weak.Make(created)
	return created
}

// Memory returns the memory that the account has for objects and answers.
func (a *Account) Memory() *Quota { return a.memory }

// CheckList returns an AnswerError for a list of which so many bytes are too many. The provider's own cluster has no account, and no bound.
func (a *Account) CheckList(bytes int64) error {
	if a == nil {
		return nil
	}
	return bound{bytes: a.bounds.listBound(), decoded: math.MaxInt64, of: "a list"}.checkAnswerSize(bytes, 0)
}
