/**
 * Known devices: browsers that signed in before. A signed cookie lets the rate limits count them apart from strangers.
 * It is no credential: it opens nothing and only separates counters. Owns no data (decision 62).
 */
export { accountSubject, addressSubject, createDevices, type Devices, type Origin } from './service.ts'
