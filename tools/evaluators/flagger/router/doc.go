// Package router has the interface of Flagger's package of the same name that its scheduler calls.
package router
