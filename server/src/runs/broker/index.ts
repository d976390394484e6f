/**
 * Broker: forwards the model traffic of runs to the providers.
 *
 * A container holds a token that is valid only here and only while its run is running. The broker adds the credential,
 * streams both directions without buffering, books tokens and cost on the execution, and reports errors in the
 * provider's own format. It never writes a request or response body anywhere.
 */
export type { Provider } from './provider-rules.ts'
export { type Broker, type BrokerDeps, createBroker } from './service.ts'
