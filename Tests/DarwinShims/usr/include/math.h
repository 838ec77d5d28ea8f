#pragma once
double log10(double);
double log2(double);
double pow(double, double);
double sqrt(double);
