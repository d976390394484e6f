import { endpoint } from '../kit/endpoint.ts'

export const getMetrics = endpoint({
  id: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Figures for Prometheus, from loopback',
  tag: 'Internal',
  access: { who: 'internal' },
  streams: ['text/plain'],
})
