package controlplane

import "time"

// ProcessorTime returns the processor time of each component, by its name: components of other clusters too, and a restarted component with its previous time.
// It is complete once Stop has returned.
func (c *ControlPlane) ProcessorTime() map[string]time.Duration {
	out := c.runner.processorTime()
	for _, k := range c.clusters {
		addTimes(out, k.runner.processorTime())
	}
	return out
}

// addTimes adds times to the times of the same names.
func addTimes(out, times map[string]time.Duration) {
	for name, took := range times {
		out[name] += took
	}
}

func (r *runner) processorTime() map[string]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]time.Duration{}
	for _, p := range r.processes {
		if !p.isAlive() {
			out[p.name] += p.processor
		}
	}
	return out
}

// Processes returns the process ID of each running component of this control plane, by its name.
func (c *ControlPlane) Processes() map[string]int {
	c.runner.mu.Lock()
	defer c.runner.mu.Unlock()
	out := map[string]int{}
	for _, p := range c.runner.processes {
		if p.isAlive() {
			out[p.name] = p.pid
		}
	}
	return out
}
