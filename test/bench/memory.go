package main

import (
	"context"

	"github.com/intentplane/intentplane/test/bench/process"
)

// providerMemory returns the memory of the provider's process once the claims are delivered, from this field of the kernel.
func (s *stage) providerMemory(field string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if _, err := s.claimLatencies(ctx); err != nil {
			return 0, err
		}
		return s.readProcessMemory(field)
	}
}

// readProcessMemory returns the present memory of the provider's process.
func (s *stage) readProcessMemory(field string) (float64, error) {
	return process.ReadMemory(s.cp.ProviderPID(), field)
}
