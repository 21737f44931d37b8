// Package journal holds the data of debates: their configurations, the events that their journals keep, and what a debate has
// found. It has their JSON, their defaults and their checks, and runs nothing.
//
// Package debate has other names for these types, such as debate.Config for [Config] and debate.TurnDone for [TurnDone]. A program
// that runs debates uses those. A program that only reads stored debates needs this package, and not the engine.
//
// A journal is a list of entries; see package store. Each entry holds one durable event, and [DecodeEntry] returns it. The first
// entry is a [ConfigChanged]. What a debate is follows from its entries alone, in their order.
package journal
