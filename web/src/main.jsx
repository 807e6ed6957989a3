import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/frame.css';
import './style/lists.css';
import './style/run.css';
import { App } from './app.jsx';
import { start } from './state/live_state.js';

start();
render(<App />, document.getElementById('page'));
