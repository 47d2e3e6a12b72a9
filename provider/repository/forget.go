package repository

import "k8s.io/apimachinery/pkg/types"

// Forget drops the state that the repositories have of a deleted object: the error of its delivery, and its wait for an answer. Nothing else
// would drop that, and a deployment that is made again and again would leave it behind each time.
func (p *Pool) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.repos {
		r.forgetObject(key)
	}
}

func (r *Repository) forgetObject(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failed, key)
	delete(r.refused, key)
	delete(r.waiters, key)
	delete(r.askers, key)
}
